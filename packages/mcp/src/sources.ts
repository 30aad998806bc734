import { fileURLToPath } from "node:url";
import { catalogue } from "@upstow/react/catalogue";
import { createComponentSearch } from "./components/search-components.ts";
import { openDocsLibrary } from "./docs/docs-library.ts";
import { createDocsSearch } from "./docs/search-docs.ts";
import type { Sources } from "./tool.ts";

const docsFolder = fileURLToPath(new URL("../../../docs/", import.meta.url));

export function openSources(): Sources {
  const docs = openDocsLibrary(docsFolder);
  return {
    catalogue,
    searchComponents: createComponentSearch(catalogue),
    docs,
    searchDocs: createDocsSearch(docs),
  };
}
