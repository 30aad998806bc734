import { z } from "zod";
import { defineTool, shortText, ToolError } from "../tool.ts";
import type { DocPage } from "./docs-library.ts";

export const searchDocs = defineTool({
  name: "search_docs",
  title: "Search the documentation",
  description: "Searches the full text of Upstow's documentation. Returns ranked results with an excerpt.",
  input: z.object({
    query: shortText.describe("A question or a few words"),
    limit: z.number().int().min(1).max(20).optional().describe("Default: 5"),
  }),
  run: async (sources, { query, limit = 5 }) => ({ results: await sources.searchDocs(query, limit) }),
});

export const getDoc = defineTool({
  name: "get_doc",
  title: "Get a documentation page",
  description: "Returns a documentation page as Markdown.",
  input: z.object({ path: shortText.describe("As returned by list_docs and search_docs") }),
  run: ({ docs }, { path }) => {
    const page = docs.find(path);
    if (page === null) throw new ToolError(`There is no page "${path}"; list_docs lists them all.`);
    return page.markdown;
  },
});

export const listDocs = defineTool({
  name: "list_docs",
  title: "List the documentation",
  description: "Lists every documentation page with its title and first paragraph.",
  input: z.object({}),
  run: ({ docs }) => ({ pages: docs.pages.map(toPageSummary) }),
});

export function toPageSummary({ path, title, summary }: DocPage) {
  return { path, title, summary };
}
