import { createHeadingIds, plainHeading } from "@upstow/mcp/heading-ids";
import { Marked } from "marked";
import { highlight } from "sugar-high";
import { escapeHtml } from "./escape.ts";

export interface RenderedPage {
  html: string;
  headings: { id: string; text: string; level: number }[];
}

const highlighted = new Set([
  "js",
  "ts",
  "tsx",
  "jsx",
  "json",
  "sh",
  "bash",
  "css",
  "html",
  "svelte",
  "yaml",
]);

/** Markdown of our own docs to HTML, with anchors on headings, coloured code and links that fit the site. */
export function renderMarkdown(markdown: string, pagePath: string): RenderedPage {
  const headings: RenderedPage["headings"] = [];
  const nameHeading = createHeadingIds();
  let tables = 0;
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
      code({ text, lang = "" }) {
        const body = highlighted.has(lang) ? colour(text) : escapeHtml(text);
        return `<div class="code"><button type="button" class="copy">Copy</button><pre tabindex="0"><code>${body}</code></pre></div>\n`;
      },
      link({ href, tokens }) {
        const target = escapeHtml(siteLink(href, pagePath));
        return `<a href="${target}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escapeHtml(siteLink(href, pagePath))}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      table(token) {
        // A header without a word names nothing, so it is none.
        const cell = (tag: string, cells: typeof token.header) =>
          cells
            .map((item) => ({
              name: item.text === "" ? "td" : tag,
              html: this.parser.parseInline(item.tokens),
            }))
            .map(({ name, html }) => `<${name}>${html}</${name}>`)
            .join("");
        const rows = token.rows.map((row) => `<tr>${cell("td", row)}</tr>`).join("\n");
        return `<div class="table" role="region" tabindex="0" aria-label="Table ${++tables}"><table><thead><tr>${cell("th", token.header)}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
    },
  });
  return { html: marked.parse(markdown, { async: false }), headings };
}

/** By class alone: the site's policy allows no inline styles. */
function colour(code: string): string {
  return highlight(code).replaceAll(/ style="[^"]*"/g, "");
}

/** Links between Markdown files work on the site as they do in a checkout. */
export function siteLink(href: string, pagePath: string): string {
  if (/^[a-z]+:|^\/|^#/i.test(href)) return href;
  const url = new URL(href, `http://docs/docs/${pagePath}`);
  if (url.pathname.endsWith(".md")) return url.pathname.replace(/\.md$/, "") + url.hash;
  return url.pathname + url.hash;
}
