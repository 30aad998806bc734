import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { createHeadingIds } from "./heading-ids.ts";

export interface DocPage {
  /** Relative to the docs folder, without `.md`: `guides/next`. */
  path: string;
  title: string;
  /** The first paragraph, for lists. */
  summary: string;
  markdown: string;
}

export interface DocSection {
  id: string;
  path: string;
  pageTitle: string;
  heading: string;
  /** The heading's name in the page's address; empty for the page itself. */
  anchor: string;
  text: string;
}

export interface NavigationGroup {
  title: string;
  pages: DocPage[];
}

export interface DocsLibrary {
  /** In the order of the navigation. */
  pages: DocPage[];
  navigation: NavigationGroup[];
  find(path: string): DocPage | null;
}

/** Every Markdown page below a folder. Decision records are for contributors and stay out. */
export function readDocPages(folder: string): DocPage[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.startsWith(`adr${sep}`))
    .sort()
    .map((name) => readPage(folder, join(folder, name)));
}

/** Puts pages in order. A name that ends with `/*` stands for all pages below it. */
export function createDocsLibrary(all: DocPage[], order: { title: string; pages: string[] }[]): DocsLibrary {
  const isMeant = (name: string, { path }: DocPage) =>
    name.endsWith("/*") ? path.startsWith(name.slice(0, -1)) : path === name;
  const navigation = order.map(({ title, pages }) => ({
    title,
    pages: [...new Set(pages.flatMap((name) => all.filter((page) => isMeant(name, page))))],
  }));
  const pages = [...new Set([...navigation.flatMap((group) => group.pages), ...all])];
  return {
    pages,
    navigation,
    find(path) {
      const wanted = path.replace(/^\/?(docs\/)?/, "").replace(/\.md$/, "");
      return pages.find((page) => page.path === wanted) ?? null;
    },
  };
}

function readPage(folder: string, file: string): DocPage {
  const markdown = readFileSync(file, "utf8");
  const path = relative(folder, file).replaceAll(sep, "/").replace(/\.md$/, "");
  const title = /^# (.+)$/m.exec(markdown)?.[1]?.trim() ?? path;
  const summary = markdown.split(/\n{2,}/).find((block) => /^[A-Za-z`*[]/.test(block)) ?? "";
  return { path, title, summary: plainText(summary), markdown };
}

function plainText(markdown: string): string {
  return markdown.replaceAll("\n", " ").replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1");
}

/** Cuts a page at its second- and third-level headings; code fences are left whole. */
export function splitSections(page: DocPage): DocSection[] {
  const nameHeading = createHeadingIds();
  const sections = [{ heading: page.title, anchor: "", lines: [] as string[] }];
  let isCode = false;
  for (const line of page.markdown.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    const heading = isCode ? undefined : /^#{2,3} (.+)$/.exec(line)?.[1];
    if (line.startsWith("# ") && !isCode) nameHeading(line.slice(2));
    if (heading !== undefined) sections.push({ heading, anchor: nameHeading(heading), lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, anchor, lines }, i) => ({
    id: `${page.path}#${i}`,
    path: page.path,
    pageTitle: page.title,
    heading,
    anchor,
    text: lines.join("\n").trim(),
  }));
}
