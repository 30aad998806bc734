import { catalogue } from "@upstow/react/catalogue";
import { createComponentSearch } from "./components/search-components.ts";
import { openDocs } from "./docs/open-docs.ts";
import type { ApiDocument } from "./docs/reference/api-document.ts";
import { createDocsSearch } from "./docs/search-docs.ts";
import type { Sources } from "./tool.ts";

/** Without the service's API document there are no pages about single endpoints. */
export function openSources(api: ApiDocument | null, instanceUrl: string): Sources {
  const docs = openDocs(api, instanceUrl);
  return {
    instanceUrl,
    catalogue,
    searchComponents: createComponentSearch(catalogue),
    docs,
    searchDocs: createDocsSearch(docs),
  };
}
