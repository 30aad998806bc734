import { escapeHtml } from "./escape.ts";

export interface Shell {
  title: string;
  description: string;
  /** Which of the main links is current. */
  section: "home" | "docs" | "components";
  body: string;
  version: string;
  /** A style sheet and a script of this name, for this page alone. */
  extra?: string;
}

const mainLinks = [
  { section: "docs", href: "/docs", text: "Docs" },
  { section: "components", href: "/components", text: "Components" },
  { section: "dashboard", href: "/dashboard", text: "Dashboard" },
] as const;

/** The frame of every page. Nothing in it comes from elsewhere, so it works without a network. */
export function renderShell({ title, description, section, body, version, extra }: Shell): string {
  const extras =
    extra === undefined
      ? ""
      : `<link rel="stylesheet" href="/assets/${extra}.css">\n<script src="/assets/${extra}.js" type="module"></script>\n`;
  const links = mainLinks
    .map(({ section: name, href, text }) => {
      const current = name === section ? ' aria-current="page"' : "";
      return `<a href="${href}"${current}>${text}</a>`;
    })
    .join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(description)}">
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/site.css">
<script src="/assets/site.js" defer></script>
${extras}</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24">Upstow</a>
<nav aria-label="Main">${links}</nav>
<form class="search" role="search" action="/docs/search">
<input type="search" name="q" placeholder="Search the docs" aria-label="Search the docs" autocomplete="off" maxlength="200">
<ul class="results" hidden></ul>
</form>
<button type="button" class="theme" aria-label="Switch between light and dark">◐</button>
</header>
${body}
<footer><p>Upstow ${escapeHtml(version)} · <a href="/docs">Docs</a> · <a href="/api/v1/openapi.json">OpenAPI</a> · <a href="/llms.txt">llms.txt</a></p></footer>
</body>
</html>
`;
}
