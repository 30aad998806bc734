import { z } from "zod";
import { defineTool, shortText, ToolError } from "../tool.ts";
import type { DocPage } from "./docs-library.ts";

export const searchDocs = defineTool({
  name: "search_docs",
  title: "Search the documentation",
  description: "Full-text search over Upstow's documentation; ranked, with an excerpt of each hit.",
  input: z.object({
    query: shortText.describe("A question or a few words"),
    limit: z.number().int().min(1).max(20).optional().describe("5 when left out"),
  }),
  run: async (sources, { query, limit = 5 }) => ({ results: await sources.searchDocs(query, limit) }),
});

export const getDoc = defineTool({
  name: "get_doc",
  title: "Get a documentation page",
  description: "One page of the documentation as Markdown.",
  input: z.object({ path: shortText.describe("As list_docs and search_docs give it") }),
  run: ({ docs }, { path }) => {
    const page = docs.find(path);
    if (page === null) throw new ToolError(`There is no page "${path}"; list_docs names them all.`);
    return page.markdown;
  },
});

export const listDocs = defineTool({
  name: "list_docs",
  title: "List the documentation",
  description: "Every page of the documentation with its title and first paragraph.",
  input: z.object({}),
  run: ({ docs }) => ({ pages: docs.pages.map(toPageSummary) }),
});

export function toPageSummary({ path, title, summary }: DocPage) {
  return { path, title, summary };
}
