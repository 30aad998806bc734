import type { DocHit, DocPage, NavigationGroup } from "@upstow/mcp/docs";
import { escapeHtml } from "./escape.ts";
import { renderMarkdown } from "./markdown.ts";

/** One page with the list of pages beside it and its own headings on the other side. */
export function renderDocPage(page: DocPage, navigation: NavigationGroup[]): string {
  const { html, headings } = renderMarkdown(page.markdown, page.path);
  const outline = headings
    .map(({ id, text, level }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`)
    .join("");
  const aside =
    outline === ""
      ? ""
      : `<aside class="outline"><nav aria-label="On this page"><ul>${outline}</ul></nav></aside>`;
  return `<div class="docs">${renderNavigation(page.path, navigation)}
<main id="content"><article>${html}</article>${renderNeighbours(page.path, navigation)}</main>${aside}</div>`;
}

export function renderSearchPage(query: string, hits: DocHit[]): string {
  const list = hits
    .map(
      ({ path, title, heading, anchor, excerpt }) =>
        `<li><a href="/docs/${path}${anchor === "" ? "" : `#${anchor}`}">${escapeHtml(title)}</a>${heading === title ? "" : ` › ${escapeHtml(heading)}`}<p>${escapeHtml(excerpt)}</p></li>`,
    )
    .join("");
  const found =
    hits.length === 0
      ? "<p>Nothing was found. Try fewer or other words.</p>"
      : `<ol class="hits">${list}</ol>`;
  return `<main id="content" class="narrow"><h1>Search: ${escapeHtml(query)}</h1>${found}</main>`;
}

function renderNavigation(current: string, navigation: NavigationGroup[]): string {
  const groups = navigation.map(({ title, pages }) => {
    const links = pages.map((page) => renderLink(page, current));
    return `<h2>${escapeHtml(title)}</h2><ul>${links.join("")}</ul>`;
  });
  return `<nav class="pages" aria-label="Documentation"><details open><summary>All pages</summary>${groups.join("")}</details></nav>`;
}

function renderLink({ path, title }: DocPage, current: string): string {
  const mark = path === current ? ' aria-current="page"' : "";
  return `<li><a href="/docs/${path}"${mark}>${escapeHtml(title)}</a></li>`;
}

function renderNeighbours(current: string, navigation: NavigationGroup[]): string {
  const order = navigation.flatMap((group) => group.pages);
  const at = order.findIndex(({ path }) => path === current);
  const link = (page: DocPage | undefined, word: string) =>
    page === undefined
      ? "<span></span>"
      : `<a href="/docs/${page.path}"><small>${word}</small>${escapeHtml(page.title)}</a>`;
  if (at === -1) return "";
  return `<nav class="neighbours" aria-label="Neighbouring pages">${link(order[at - 1], "Previous")}${link(order[at + 1], "Next")}</nav>`;
}
