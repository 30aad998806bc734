export const CATEGORIES = [
  "classic",
  "dropzone",
  "button",
  "progress",
  "motion",
  "specialty",
  "gallery",
  "display",
] as const;
export type Category = (typeof CATEGORIES)[number];

export interface PropEntry {
  name: string;
  type: string;
  isRequired: boolean;
  default?: string;
  description: string;
}

/** The single source for what docs, registry, gallery page and tools say about a component. */
export interface CatalogueEntry {
  /** The exported name, such as `UploadDropzone`. */
  name: string;
  /** Its name in URLs and the registry, such as `upload-dropzone`. */
  slug: string;
  category: Category;
  /** One sentence: what it is and when to use it. */
  description: string;
  /** Likely search terms. */
  keywords: string[];
  props: PropEntry[];
  /** A complete example that compiles. */
  usage: string;
}
