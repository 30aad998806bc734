import { hash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type ApiDocument, createDocsSearch, docsFolder, openDocs } from "@upstow/mcp/docs";
import { renderDocPage, renderSearchPage } from "./docs-pages.ts";
import { renderHome } from "./home.ts";
import { renderShell } from "./layout.ts";
import { renderLlmsText } from "./llms-text.ts";

export type { ApiDocument };

export interface SitePage {
  type: string;
  body: string | Buffer;
  etag: string;
}

export interface Site {
  /** A page by its path; null where there is none. */
  find(path: string): SitePage | null;
  /** The page that lists hits, for browsers without script. */
  renderSearch(query: string): Promise<SitePage>;
  search(query: string): Promise<object[]>;
}

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const html = "text/html; charset=utf-8";

export interface SiteOptions {
  publicUrl: string;
  version: string;
  api: ApiDocument;
}

/** Rendering everything takes a good part of a second, so whoever else is being served gets a turn after each page. */
export async function openSite({ publicUrl, version, api }: SiteOptions): Promise<Site> {
  const library = openDocs(api, publicUrl);
  const searchDocs = createDocsSearch(library);
  const pages = new Map<string, SitePage>();
  const add = (path: string, type: string, body: string | Buffer) => pages.set(path, toPage(type, body));

  const assets = {
    "site.css": "text/css; charset=utf-8",
    "site.js": "text/javascript; charset=utf-8",
    "explorer.css": "text/css; charset=utf-8",
    "explorer.js": "text/javascript; charset=utf-8",
    "explorer-request.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
  };
  for (const [name, type] of Object.entries(assets))
    add(`/assets/${name}`, type, readFileSync(folder(`./assets/${name}`)));

  const description = "A file upload service you run yourself.";
  add(
    "/",
    html,
    renderShell({ title: "Upstow", description, section: "home", body: renderHome(publicUrl), version }),
  );
  add("/llms.txt", "text/plain; charset=utf-8", renderLlmsText(library, publicUrl));
  for (const page of library.pages) {
    await nextTurn();
    const body = renderDocPage(page, library.navigation);
    const shell = {
      title: `${page.title} · Upstow`,
      description: page.summary,
      section: "docs" as const,
      body,
      version,
      ...(page.path === "reference/explorer" ? { extra: "explorer" } : {}),
    };
    add(`/docs/${page.path}`, html, renderShell(shell));
    add(`/docs/${page.path}.md`, "text/markdown; charset=utf-8", page.markdown);
  }
  const pictures = { webp: "image/webp", svg: "image/svg+xml" };
  for (const [ending, type] of Object.entries(pictures)) {
    for (const name of globSync(`images/*.${ending}`, { cwd: docsFolder }))
      add(`/docs/${name}`, type, readFileSync(docsFolder + name));
  }
  const first = pages.get(`/docs/${library.pages[0]?.path}`);
  if (first !== undefined) pages.set("/docs", first);

  return {
    find: (path) => pages.get(path) ?? null,
    search: (query) => searchDocs(query, 8),
    async renderSearch(query) {
      const body = renderSearchPage(query, await searchDocs(query, 20));
      return toPage(
        html,
        renderShell({ title: `Search: ${query}`, description, section: "docs", body, version }),
      );
    },
  };
}

function toPage(type: string, body: string | Buffer): SitePage {
  return { type, body, etag: `"${hash("sha256", body).slice(0, 32)}"` };
}
