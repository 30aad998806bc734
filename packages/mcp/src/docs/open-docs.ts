import { createDocsLibrary, type DocsLibrary } from "./docs-library.ts";
import type { ApiDocument } from "./reference/api-document.ts";
import { renderApiPages } from "./reference/api-pages.ts";
import { readWrittenPages } from "./written-pages.ts";

/** The pages that people wrote, and the reference that schemas, types and the catalogue are turned into. */
export function openDocs(api: ApiDocument | null): DocsLibrary {
  const { pages, order } = readWrittenPages();
  return createDocsLibrary([...pages, ...(api === null ? [] : renderApiPages(api))], order);
}
