import { drawIcon } from "@upstow/kit/draw-icon";
import { searchIcon, sunMoonIcon } from "@upstow/kit/icons";
import { assetUrl, firstFont } from "./assets.ts";
import { escapeHtml } from "./escape.ts";

export interface Shell {
  title: string;
  description: string;
  /** Which of the main links is current. */
  section: "home" | "docs" | "api" | "components" | "none";
  body: string;
  version: string;
  /** Style sheets and scripts of these names, for this page alone. */
  extras?: string[];
  /** For visitors who know nothing of the product: without its links. */
  isBare?: boolean;
}

const mainLinks = [
  { section: "docs", href: "/docs", text: "Docs" },
  { section: "api", href: "/docs/reference/api/files", text: "API" },
  { section: "components", href: "/components", text: "Components" },
  { section: "dashboard", href: "/dashboard", text: "Dashboard" },
] as const;

/** The frame of every page. Everything in it comes from this service, so it works without a network. */
export function renderShell({
  title,
  description,
  section,
  body,
  version,
  extras = [],
  isBare = false,
}: Shell): string {
  const extraTags = extras
    .map(
      (name) =>
        `<link rel="stylesheet" href="${assetUrl(`${name}.css`)}">\n<script src="${assetUrl(`${name}.js`)}" type="module"></script>\n`,
    )
    .join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(description)}">
<link rel="icon" href="${assetUrl("icon.svg")}" type="image/svg+xml">
<link rel="preload" href="${firstFont}" as="font" type="font/woff2" crossorigin>
<script src="${assetUrl("theme.js")}"></script>
<link rel="stylesheet" href="${assetUrl("site.css")}">
<script src="${assetUrl("site.js")}" type="module"></script>
${extraTags}</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${isBare ? body : withLinks(section, body, version)}
</body>
</html>
`;
}

function withLinks(section: Shell["section"], body: string, version: string): string {
  const links = mainLinks
    .map(({ section: name, href, text }) => {
      const current = name === section ? ' aria-current="page"' : "";
      return `<a href="${href}"${current}>${text}</a>`;
    })
    .join("");
  return `<header class="top">
<a class="brand" href="/"><img src="${assetUrl("icon.svg")}" alt="" width="26" height="26">Upstow</a>
<nav aria-label="Main">${links}</nav>
<a class="search-open" href="/docs/search">${drawIcon(searchIcon)}<span>Search docs</span><kbd class="kbd" data-shortcut>⌘K</kbd></a>
<button type="button" class="button quiet square theme" aria-label="Switch between light and dark">${drawIcon(sunMoonIcon)}</button>
</header>
${body}
<footer class="foot"><p>Upstow ${escapeHtml(version)}</p><nav aria-label="Footer"><a href="/docs">Docs</a><a href="/docs/changelog">Changelog</a><a href="/api/v1/openapi.json">OpenAPI</a><a href="/llms.txt">llms.txt</a></nav></footer>`;
}
