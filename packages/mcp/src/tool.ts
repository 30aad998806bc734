import type { CatalogueEntry } from "@upstow/react/catalogue";
import { z } from "zod";
import type { SearchComponents } from "./components/search-components.ts";
import type { DocsLibrary } from "./docs/docs-library.ts";
import type { SearchDocs } from "./docs/search-docs.ts";

/** The tools' data. Opened once and shared by all server instances. */
export interface Sources {
  /** Also serves the packages. */
  instanceUrl: string;
  catalogue: CatalogueEntry[];
  searchComponents: SearchComponents;
  docs: DocsLibrary;
  searchDocs: SearchDocs;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input: Input;
  /** Calling it costs or changes something at the service, though the same call again does not. */
  hasEffect?: boolean;
  /** Text is sent as it is; anything else as JSON, also in structured form. A `ToolError` tells the caller what is wrong. */
  run(sources: Sources, input: z.output<Input>): string | object | Promise<string | object>;
}

/** Keeps the input's type for `run` while the list of tools forgets it. */
export function defineTool<Input extends z.ZodObject>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool;
}

/** Searching takes time and memory with the length of what is looked for, and anybody may ask. */
const longestText = 200;

/** A name, a path or a few words. */
export const shortText = z.string().min(1).max(longestText);

export class ToolError extends Error {
  override readonly name = "ToolError";
}
