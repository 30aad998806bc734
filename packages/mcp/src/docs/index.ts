export { type DocPage, type DocsLibrary, openDocsLibrary } from "./docs-library.ts";
export { createDocsSearch, type DocHit, type SearchDocs } from "./search-docs.ts";
