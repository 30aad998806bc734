import { drawIcon } from "@upstow/kit/draw-icon";
import { copyIcon } from "@upstow/kit/icons";
import { createHeadingIds, plainHeading } from "@upstow/mcp/heading-ids";
import { Marked, type Token } from "marked";
import { escapeHtml } from "./escape.ts";
import { highlightCode } from "./highlight.ts";

export interface RenderedPage {
  html: string;
  headings: { id: string; text: string; level: number }[];
}

const languageNames: Record<string, string> = {
  sh: "Shell",
  bash: "Shell",
  js: "JavaScript",
  ts: "TypeScript",
  tsx: "TSX",
  json: "JSON",
  yaml: "YAML",
  css: "CSS",
  html: "HTML",
  ini: "Environment",
  nginx: "nginx",
  caddyfile: "Caddyfile",
  svelte: "Svelte",
  xml: "XML",
};

/** Names up to this length stay on one line, also on a phone. */
const unbrokenMax = 24;

/** One long line is usual in these, and nothing in them depends on where a line ends. */
const wrapped = new Set(["sh", "bash", "ini", ""]);

/** A block of code under a bar that names it and copies it. */
export function renderCode(text: string, language: string): string {
  // The first line of a file's code is its path, which the bar shows.
  const [, path] = /^(?:\/\/|#|<!--) ([\w./[\]()+-]+\.\w+)(?: -->)?\n/.exec(text) ?? [];
  const name = path ?? languageNames[language] ?? "Text";
  return `<figure class="code${wrapped.has(language) ? " wrap" : ""}"><figcaption><span>${escapeHtml(name)}</span><button type="button" class="copy" aria-label="Copy">${drawIcon(copyIcon)}<span>Copy</span></button></figcaption><pre tabindex="0"><code>${highlightCode(text, language)}</code></pre></figure>\n`;
}

/** Markdown of our own docs to HTML: anchors on headings, coloured code, tabs, and links that fit the site. */
export function renderMarkdown(markdown: string, pagePath: string): RenderedPage {
  const headings: RenderedPage["headings"] = [];
  const nameHeading = createHeadingIds();
  let tables = 0;
  let tabSets = 0;
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const id = nameHeading(text);
        if (depth > 1) headings.push({ id, text: plainHeading(text), level: depth });
        const anchor =
          depth === 1 ? "" : ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${anchor}</h${depth}>\n`;
      },
      code: ({ text, lang = "" }) => renderCode(text, lang),
      // Lists and long names may wrap where they have a seam, or they would leave the next column of a table no room.
      codespan: ({ text }) =>
        text.length <= unbrokenMax
          ? `<code>${escapeHtml(text)}</code>`
          : `<code data-long>${escapeHtml(text).replaceAll(/,(?! )|_(?=[A-Z])/g, "$&<wbr>")}</code>`,
      link({ href, tokens }) {
        const target = escapeHtml(siteLink(href, pagePath));
        return `<a href="${target}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escapeHtml(siteLink(href, pagePath))}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      table(token) {
        // A header without text names nothing.
        const header = token.header
          .map((item) => ({
            name: item.text === "" ? "td" : "th",
            html: this.parser.parseInline(item.tokens),
          }))
          .map(({ name, html }) => `<${name}>${html}</${name}>`)
          .join("");
        // On a phone the rows are blocks, and every cell says what it is of.
        const labels = token.header.map(({ text }) =>
          text === "" ? "" : ` data-label="${escapeHtml(plainHeading(text))}"`,
        );
        const rows = token.rows
          .map((row) => row.map((item, i) => `<td${labels[i]}>${this.parser.parseInline(item.tokens)}</td>`))
          .map((cells) => `<tr>${cells.join("")}</tr>`)
          .join("\n");
        return `<div class="table" role="region" tabindex="0" aria-label="Table ${++tables}"><table><thead><tr>${header}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
    },
  });
  const parse = (tokens: Token[]) => marked.parser(tokens);
  const html = splitTabs(marked.lexer(markdown))
    .map((part) => ("tabs" in part ? renderTabs({ ...part, id: ++tabSets }, parse) : parse(part.tokens)))
    .join("");
  return { html, headings };
}

interface Tab {
  name: string;
  tokens: Token[];
}
type Part = { tokens: Token[] } | { group: string; tabs: Tab[] };

/** `<!-- tabs: framework -->`, then `<!-- tab: Next.js -->` before each tab, and `<!-- /tabs -->`. */
function splitTabs(tokens: Token[]): Part[] {
  const parts: Part[] = [];
  let open: { group: string; tabs: Tab[] } | null = null;
  for (const token of tokens) {
    const [, mark, name = ""] = /^<!-- (tabs:|tab:|\/tabs)(?: (.+))? -->/.exec(token.raw) ?? [];
    const last = parts.at(-1);
    if (mark === "tabs:") {
      open = { group: name, tabs: [] };
      parts.push(open);
    } else if (mark === "tab:") open?.tabs.push({ name, tokens: [] });
    else if (mark === "/tabs") open = null;
    else if (open !== null) open.tabs.at(-1)?.tokens.push(token);
    else if (last !== undefined && "tokens" in last) last.tokens.push(token);
    else parts.push({ tokens: [token] });
  }
  return parts;
}

/** All panels are shown where no script runs. The choice is kept for every set of the same group. */
export function renderTabs(
  { group, tabs, id }: { group: string; tabs: Tab[]; id: number | string },
  parse: (tokens: Token[]) => string,
): string {
  const panels = tabs.map(({ name, tokens }) => ({ name, html: parse(tokens) }));
  return renderTabSet(group, `${group.replaceAll(" ", "-")}-${id}`, panels);
}

export function renderTabSet(group: string, id: string, panels: { name: string; html: string }[]): string {
  const buttons = panels.map(
    ({ name }, i) =>
      `<button type="button" role="tab" id="${id}-tab-${i}" aria-controls="${id}-panel-${i}" aria-selected="${i === 0}"${i === 0 ? "" : ' tabindex="-1"'}>${escapeHtml(name)}</button>`,
  );
  const bodies = panels.map(
    ({ html }, i) =>
      `<div role="tabpanel" id="${id}-panel-${i}" aria-labelledby="${id}-tab-${i}">${html}</div>`,
  );
  return `<div class="tabs" data-tabs="${escapeHtml(group)}"><div role="tablist" aria-label="${escapeHtml(group)}">${buttons.join("")}</div>${bodies.join("")}</div>\n`;
}

/** Links between Markdown files work on the site as they do in a checkout. */
export function siteLink(href: string, pagePath: string): string {
  if (/^[a-z]+:|^\/|^#/i.test(href)) return href;
  const url = new URL(href, `http://docs/docs/${pagePath}`);
  if (url.pathname.endsWith(".md")) return url.pathname.replace(/\.md$/, "") + url.hash;
  return url.pathname + url.hash;
}
