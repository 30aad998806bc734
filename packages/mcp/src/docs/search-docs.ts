import MiniSearch from "minisearch";
import { type DocSection, type DocsLibrary, splitSections } from "./docs-library.ts";

export interface DocHit {
  path: string;
  title: string;
  heading: string;
  excerpt: string;
  score: number;
}

export type SearchDocs = (query: string, limit: number) => DocHit[];

/** Words that questions are made of and that no page is about. */
const fillers = new Set(
  "a an and are can do does for from how i in is it my of on or the to what when where which why with you".split(
    " ",
  ),
);

/** Full text over sections, ranked; a page appears once, by its best section. */
export function createDocsSearch(library: DocsLibrary): SearchDocs {
  const sections = library.pages.flatMap(splitSections);
  const byId = new Map(sections.map((section) => [section.id, section]));
  const index = new MiniSearch<DocSection>({
    fields: ["pageTitle", "heading", "path", "text"],
    processTerm: (term) => (fillers.has(term.toLowerCase()) ? null : stem(term.toLowerCase())),
    searchOptions: {
      boost: { pageTitle: 4, heading: 3, path: 2 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  index.addAll(sections);

  return (query, limit) => {
    const best = new Map<string, DocHit>();
    for (const { id, score, terms } of index.search(query)) {
      const section = byId.get(id);
      if (section === undefined || best.has(section.path)) continue;
      best.set(section.path, {
        path: section.path,
        title: section.pageTitle,
        heading: section.heading,
        excerpt: excerptAround(section.text, terms),
        score: Math.round(score * 100) / 100,
      });
      if (best.size === limit) break;
    }
    return [...best.values()];
  };
}

/** Plural and verb endings off: "webhooks" finds "webhook", "uploading" finds "upload". */
function stem(term: string): string {
  return term.length > 4 ? term.replace(/(?:ing|ed|es|s)$/, "") : term;
}

function excerptAround(text: string, terms: string[]): string {
  const flat = text.replaceAll(/\s+/g, " ");
  const lower = flat.toLowerCase();
  const at = terms.map((term) => lower.indexOf(term)).find((index) => index >= 0) ?? 0;
  const start = Math.max(0, at - 80);
  return `${start > 0 ? "…" : ""}${flat.slice(start, start + 240)}${flat.length > start + 240 ? "…" : ""}`;
}
