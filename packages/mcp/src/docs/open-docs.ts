import { DEFAULT_INSTANCE } from "../scaffolds/install-command.ts";
import { createDocsLibrary, type DocPage, type DocsLibrary } from "./docs-library.ts";
import type { ApiDocument } from "./reference/api-document.ts";
import { renderApiPages } from "./reference/api-pages.ts";
import { readWrittenPages } from "./written-pages.ts";

/**
 * The pages that people wrote, and the reference that schemas, types and the catalogue are turned into. Examples name
 * this instance.
 */
export function openDocs(api: ApiDocument | null, instanceUrl: string): DocsLibrary {
  const { pages, order } = readWrittenPages();
  const written = pages.map((page) => ({
    ...page,
    markdown: page.markdown.replaceAll(
      isExample(page) ? DEFAULT_INSTANCE : `${DEFAULT_INSTANCE}/packages/`,
      (found) => found.replace(DEFAULT_INSTANCE, instanceUrl),
    ),
  }));
  return createDocsLibrary([...written, ...(api === null ? [] : renderApiPages(api))], order);
}

/** Elsewhere, such as among default values, the text is about the address itself. */
const isExample = ({ path }: DocPage) => path === "quick-start" || path.startsWith("guides/");
