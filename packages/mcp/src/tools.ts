import {
  getComponent,
  getInstallCommand,
  listComponents,
  searchComponents,
} from "./components/component-tools.ts";
import { getDoc, listDocs, searchDocs } from "./docs/doc-tools.ts";
import {
  getByosConfigTool,
  getQuickstart,
  scaffoldProvider,
  scaffoldRouteHandler,
} from "./scaffolds/scaffold-tools.ts";
import type { Tool } from "./tool.ts";

/** Tools of the hosted endpoint: read-only, no credentials. */
export const hostedTools: readonly Tool[] = [
  listComponents,
  getComponent,
  searchComponents,
  getInstallCommand,
  scaffoldRouteHandler,
  scaffoldProvider,
  getByosConfigTool,
  getQuickstart,
  searchDocs,
  getDoc,
  listDocs,
];
