export const CATEGORIES = [
  "classic",
  "dropzone",
  "button",
  "progress",
  "motion",
  "specialty",
  "gallery",
] as const;
export type Category = (typeof CATEGORIES)[number];

export interface PropEntry {
  name: string;
  type: string;
  isRequired: boolean;
  default?: string;
  description: string;
}

/** Everything that docs, registry, gallery page and tools say about a component comes from its entry. */
export interface CatalogueEntry {
  /** The exported name, such as `UploadDropzone`. */
  name: string;
  /** Its name in URLs and the registry, such as `upload-dropzone`. */
  slug: string;
  category: Category;
  /** One sentence: what it is and when to take it. */
  description: string;
  /** Words that people who look for it might use. */
  keywords: string[];
  props: PropEntry[];
  /** A whole, compiling example. */
  usage: string;
}
