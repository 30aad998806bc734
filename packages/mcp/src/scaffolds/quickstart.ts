import type { DocsLibrary } from "../docs/docs-library.ts";

/** The page that people read, so that there is one quick start. */
export function getQuickstartText(docs: DocsLibrary): string {
  const page = docs.find("quick-start");
  if (page === null) throw new Error("the documentation has no quick start");
  return page.markdown;
}
