import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { catalogue } from "@upstow/react/catalogue";
import { createDocsLibrary, type DocsLibrary, readDocPages } from "./docs-library.ts";
import type { ApiDocument } from "./reference/api-document.ts";
import { renderApiPages } from "./reference/api-pages.ts";
import { renderComponentPages } from "./reference/component-pages.ts";
import { renderSdkPages } from "./reference/sdk-pages.ts";

export const docsFolder: string = fileURLToPath(new URL("../../../../docs/", import.meta.url));
const packagesFolder = fileURLToPath(new URL("../../../", import.meta.url));

/** The pages that people wrote, and the reference that schemas, types and the catalogue are turned into. */
export function openDocs(api: ApiDocument | null): DocsLibrary {
  const pages = [
    ...readDocPages(docsFolder),
    ...(api === null ? [] : renderApiPages(api)),
    ...renderSdkPages(
      packagesFolder,
      catalogue.map(({ name }) => name),
    ),
    ...renderComponentPages(catalogue),
  ];
  return createDocsLibrary(pages, JSON.parse(readFileSync(`${docsFolder}navigation.json`, "utf8")));
}
