import { drawIcon } from "@upstow/kit/draw-icon";
import { arrowLeftIcon, arrowRightIcon, menuIcon } from "@upstow/kit/icons";
import type { DocHit, DocPage, NavigationGroup } from "@upstow/mcp/docs";
import { escapeHtml } from "./escape.ts";
import { renderMarkdown } from "./markdown.ts";

/** One page with the list of pages on one side and its own headings on the other. */
export function renderDocPage(page: DocPage, navigation: NavigationGroup[]): string {
  const { html, headings } = renderMarkdown(page.markdown, page.path);
  const outline = headings
    .map(({ id, text, level }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`)
    .join("");
  const aside =
    outline === ""
      ? ""
      : `<aside class="outline"><nav aria-label="On this page"><p class="overline">On this page</p><ul>${outline}</ul></nav></aside>`;
  const isApi = isApiPage(page.path);
  const group = navigation.find(({ pages }) => pages.includes(page))?.title;
  const place = group === undefined ? "" : `<p class="overline">${escapeHtml(group)}</p>`;
  const body = isApi ? splitOperations(html) : html;
  return `<div class="docs${isApi ? " api" : ""}">${renderNavigation(page.path, navigation)}
<main id="content">${place}<article>${body}</article>${renderNeighbours(page.path, navigation)}</main>${isApi ? "" : aside}</div>`;
}

/** The endpoints and the explorer, which show calls in a column of their own. */
export function isApiPage(path: string): boolean {
  return path.startsWith("reference/api/") || path === "reference/explorer";
}

/** Adds a column next to each endpoint's text, which `explorer.js` fills with the call. */
function splitOperations(html: string): string {
  return html
    .split(/(?=<h2 )/)
    .map((part) => {
      const [, operation] = /explorer#(\w+)"/.exec(part) ?? [];
      if (operation === undefined) return part;
      return `<section class="operation"><div>${part}</div><div class="try" data-operation="${operation}"></div></section>`;
    })
    .join("");
}

export function renderSearchPage(query: string, hits: DocHit[]): string {
  const list = hits
    .map(
      ({ path, title, heading, anchor, excerpt }) =>
        `<li><a href="/docs/${path}${anchor === "" ? "" : `#${anchor}`}">${escapeHtml(title)}${heading === title ? "" : ` › ${escapeHtml(heading)}`}</a><p>${escapeHtml(excerpt)}</p></li>`,
    )
    .join("");
  const found =
    hits.length > 0
      ? `<ol class="hits">${list}</ol>`
      : query === ""
        ? ""
        : `<p>No results for “${escapeHtml(query)}”. Try fewer or different words, or <a href="/docs">browse the docs</a>.</p>`;
  return `<main id="content" class="narrow"><h1>Search the docs</h1>
<form class="search-form" role="search" action="/docs/search"><input class="input" type="search" name="q" aria-label="Search the docs" value="${escapeHtml(query)}" maxlength="200"><button class="button primary">Search</button></form>${found}</main>`;
}

export function renderNavigation(current: string, navigation: NavigationGroup[]): string {
  const groups = navigation.map(({ title, pages }) => {
    const links = pages.map((page) => renderLink(page, current));
    return `<h2>${escapeHtml(title)}</h2><ul>${links.join("")}</ul>`;
  });
  return `<nav class="pages" aria-label="Documentation"><details open><summary>${drawIcon(menuIcon)}All pages</summary>${groups.join("")}</details></nav>`;
}

function renderLink({ path, title }: DocPage, current: string): string {
  const mark = path === current ? ' aria-current="page"' : "";
  return `<li><a href="/docs/${path}"${mark}>${escapeHtml(title.replace(/^API: (.)/, (_, first) => first.toUpperCase()))}</a></li>`;
}

function renderNeighbours(current: string, navigation: NavigationGroup[]): string {
  const order = navigation.flatMap((group) => group.pages);
  const at = order.findIndex(({ path }) => path === current);
  if (at === -1) return "";
  const [previous, next] = [order[at - 1], order[at + 1]];
  const links = [
    previous === undefined
      ? "<span></span>"
      : `<a href="/docs/${previous.path}"><small>${drawIcon(arrowLeftIcon)}Previous</small>${escapeHtml(previous.title)}</a>`,
    next === undefined
      ? "<span></span>"
      : `<a class="next" href="/docs/${next.path}"><small>Next${drawIcon(arrowRightIcon)}</small>${escapeHtml(next.title)}</a>`,
  ];
  return `<nav class="neighbours" aria-label="Previous and next page">${links.join("")}</nav>`;
}
