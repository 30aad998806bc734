export type { DocPage, DocsLibrary, NavigationGroup } from "./docs-library.ts";
export { openDocs } from "./open-docs.ts";
export type { ApiDocument } from "./reference/api-document.ts";
export { createDocsSearch, type DocHit, type SearchDocs } from "./search-docs.ts";
export { docsFolder } from "./written-pages.ts";
