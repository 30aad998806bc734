import { highlight } from "sugar-high";
import { escapeHtml } from "./escape.ts";

type Kind = "comment" | "string" | "keyword" | "property" | "class";

const scripts = new Set(["js", "ts", "tsx", "jsx", "json", "css", "html", "svelte"]);

/** Tokens of the docs' other languages. The first match wins. */
const shell: [Kind, RegExp][] = [
  ["comment", /(?<=^|\s)#.*/],
  ["string", /"(?:\\.|[^"\\])*"|'[^']*'/],
  ["property", /\$\{?\w+\}?|\$\(/],
  // The command: first in its line, behind a pipe, or behind variables that are set for it.
  ["keyword", /(?<=^[ \t]*(?:[A-Z_]+=\S*[ \t]+)*|[|;&][ \t]*|\$\()(?:sudo )?[a-z][\w.-]*(?=[ \t]|$|\))/],
  ["class", /(?<=\s)--?[A-Za-z][\w-]*/],
];
const settings: [Kind, RegExp][] = [
  ["comment", /(?<=^|\s)#.*/],
  ["string", /"(?:\\.|[^"\\])*"|'[^']*'/],
  ["property", /(?<=^[ \t]*(?:- )?)[\w./-]+(?=[ \t]*[:=])/],
  ["keyword", /\b(?:true|false|null|on|off|yes|no)\b/],
];
const grammars: Record<string, [Kind, RegExp][]> = {
  sh: shell,
  bash: shell,
  yaml: settings,
  ini: settings,
  nginx: settings,
  caddyfile: settings,
};

/** Code as markup. Colours come by class alone, because the site's policy allows no inline styles. */
export function highlightCode(code: string, language: string): string {
  if (scripts.has(language)) return highlight(code).replaceAll(/ style="[^"]*"/g, "");
  const grammar = grammars[language];
  if (grammar === undefined) return escapeHtml(code);
  const pattern = new RegExp(grammar.map(([, { source }]) => `(${source})`).join("|"), "gm");
  let html = "";
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const kind = grammar[match.slice(1).findIndex((group) => group !== undefined)]?.[0];
    html += escapeHtml(code.slice(end, match.index));
    html += `<span class="sh__token--${kind}">${escapeHtml(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(end));
}
