import MiniSearch from "minisearch";
import { type DocSection, type DocsLibrary, splitSections } from "./docs-library.ts";

export interface DocHit {
  path: string;
  title: string;
  heading: string;
  anchor: string;
  excerpt: string;
  score: number;
}

export type SearchDocs = (query: string, limit: number) => Promise<DocHit[]>;

type Search = (query: string, limit: number) => DocHit[];

/** Common words in questions that no page is about. */
const fillers = new Set(
  "a about after an and any are at away be been by can could did do does for from get has have how i if in into is it its me my never of on or our out should so someone that the their them there they this to us was we were what when where which while who why will with would you your".split(
    " ",
  ),
);

/** Tables of benchmark results contain every word of the product, but answer no question. */
const measurements = new Set(["performance", "capacity"]);

/** A question about how to do something is answered by a guide; reference and history are full of the same words. */
const boosts: [pathStart: string, factor: number][] = [
  ["quick-start", 1.3],
  ["guides/", 1.2],
  ["concepts/", 1.2],
  ["reference/api/", 0.4],
  ["reference/", 0.7],
  ["changelog", 0.3],
  ["comparison", 0.5],
  ["threat-model", 0.6],
  ["architecture", 0.6],
  ["reliability", 0.6],
];

/** Full text over sections, ranked; a page appears once, by its best section. Indexed when first asked. */
export function createDocsSearch(library: DocsLibrary): SearchDocs {
  let indexed: Promise<Search> | undefined;
  return async (query, limit) => {
    const pages = library.pages.filter(({ path }) => !measurements.has(path));
    indexed ??= indexSections(pages.flatMap(splitSections));
    return (await indexed)(query, limit);
  };
}

async function indexSections(sections: DocSection[]): Promise<Search> {
  const byId = new Map(sections.map((section) => [section.id, section]));
  const index = new MiniSearch<DocSection>({
    fields: ["pageTitle", "heading", "path", "text"],
    processTerm: (term) => (fillers.has(term.toLowerCase()) ? null : stem(term.toLowerCase())),
    searchOptions: {
      boost: { pageTitle: 2, heading: 2, path: 1 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      weights: { prefix: 0.3, fuzzy: 0.3 },
      boostDocument: (id) => boosts.find(([start]) => String(id).startsWith(start))?.[1] ?? 1,
    },
  });
  // In pieces, so the service can handle other requests while it indexes.
  await index.addAllAsync(sections);

  return (query, limit) => {
    const best = new Map<string, DocHit>();
    for (const { id, score, terms } of index.search(query)) {
      const section = byId.get(id);
      if (section === undefined || best.has(section.path)) continue;
      best.set(section.path, {
        path: section.path,
        title: section.pageTitle,
        heading: section.heading,
        anchor: section.anchor,
        excerpt: excerptAround(section.text, terms),
        score: Math.round(score * 100) / 100,
      });
      if (best.size === limit) break;
    }
    return [...best.values()];
  };
}

/** Plural and verb endings off: "retries" finds "retry", "completed" finds "complete". */
function stem(term: string): string {
  if (term.length < 5) return term;
  return term
    .replace(/ies$/, "y")
    .replace(/(?:ing|ed|es|s)$/, "")
    .replace(/e$/, "");
}

function excerptAround(markdown: string, terms: string[]): string {
  const passages = passagesOf(markdown);
  const isAbout = (text: string) => terms.some((term) => text.toLowerCase().includes(term));
  const passage = passages.find(isAbout) ?? passages[0] ?? "";
  const lower = passage.toLowerCase();
  const at = terms.map((term) => lower.indexOf(term)).find((index) => index >= 0) ?? 0;
  const start = at <= 80 ? 0 : passage.indexOf(" ", at - 80) + 1;
  const end = passage.length <= start + 240 ? passage.length : passage.lastIndexOf(" ", start + 240);
  return `${start > 0 ? "…" : ""}${passage.slice(start, end)}${end < passage.length ? "…" : ""}`;
}

/** The text between tables, and each row of a table by itself: rows in one line would run together. */
function passagesOf(markdown: string): string[] {
  return markdown
    .replaceAll(/^\|.*\|\n\|[-| :]+\|$/gm, "")
    .split(/^(\|.*\|)$/m)
    .map(wordsOf)
    .filter((text) => text !== "");
}

/** What a reader would see of it below its heading: marks of code, lists, links and pictures are left out. */
function wordsOf(markdown: string): string {
  return markdown
    .replaceAll(/<!--.*?-->|^```.*$|^#+ .*$| · \[try it\]\([^)]*\)/gm, " ")
    .replaceAll(/(?<=[.:;!?]\s*)^ *(?:[-*]|\d+\.) /gm, " ")
    .replaceAll(/^ *(?:[-*]|\d+\.) /gm, " · ")
    .replaceAll(/^\|(.*)\|$/gm, (_row, cells: string) =>
      cells
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll("\\|", "|"))
        .filter(Boolean)
        .join(" · "),
    )
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/`|\*\*/g, "")
    .replaceAll(/<br>|\s+/g, " ")
    .replace(/^[ ·]+/, "")
    .trim();
}
