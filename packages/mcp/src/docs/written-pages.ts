import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { catalogue } from "@upstow/react/catalogue";
import { type DocPage, readDocPages } from "./docs-library.ts";
import { renderComponentPages } from "./reference/component-pages.ts";
import { renderSdkPages } from "./reference/sdk-pages.ts";

export const docsFolder: string = fileURLToPath(new URL("../../../../docs/", import.meta.url));
const packagesFolder = fileURLToPath(new URL("../../../", import.meta.url));

export interface WrittenPages {
  pages: DocPage[];
  order: { title: string; pages: string[] }[];
}

/** All pages generated from a checkout. The published package contains the result instead of this module. */
export function readWrittenPages(): WrittenPages {
  const names = catalogue.map(({ name }) => name);
  const pages = [
    ...readDocPages(docsFolder),
    ...renderSdkPages(packagesFolder, names),
    ...renderComponentPages(catalogue),
  ];
  return { pages, order: JSON.parse(readFileSync(`${docsFolder}navigation.json`, "utf8")) };
}
