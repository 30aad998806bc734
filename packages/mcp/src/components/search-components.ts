import type { CatalogueEntry } from "@upstow/react/catalogue";
import MiniSearch from "minisearch";

export type SearchComponents = (query: string) => CatalogueEntry[];

export function createComponentSearch(catalogue: CatalogueEntry[]): SearchComponents {
  const index = new MiniSearch({
    idField: "slug",
    fields: ["name", "slug", "category", "description", "keywords"],
    extractField: (entry, field) => {
      const value = (entry as unknown as Record<string, unknown>)[field];
      // People search for "UploadDropzone" as two words.
      return Array.isArray(value) ? value.join(" ") : String(value).replaceAll(/([a-z])([A-Z])/g, "$1 $2");
    },
    searchOptions: { boost: { name: 3, keywords: 2 }, prefix: true, fuzzy: 0.2 },
  });
  index.addAll(catalogue);
  const bySlug = new Map(catalogue.map((entry) => [entry.slug, entry]));
  return (query) => index.search(query).flatMap(({ id }) => bySlug.get(id) ?? []);
}
