import { hash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type ApiDocument,
  createDocsSearch,
  type DocPage,
  type DocsLibrary,
  docsFolder,
  openDocs,
} from "@upstow/mcp/docs";
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
  api(): ApiDocument;
}

/** Rendering everything takes a good part of a second, so each page is rendered when it is first asked for. */
export function openSite({ publicUrl, version, api }: SiteOptions): Site {
  const description = "A file upload service you run yourself.";
  const pages = createPages();
  const assets = {
    "site.css": "text/css; charset=utf-8",
    "site.js": "text/javascript; charset=utf-8",
    "explorer.css": "text/css; charset=utf-8",
    "explorer.js": "text/javascript; charset=utf-8",
    "explorer-request.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
  };
  for (const [name, type] of Object.entries(assets))
    pages.add(`/assets/${name}`, type, () => readFileSync(folder(`./assets/${name}`)));
  pages.add("/", html, () =>
    renderShell({ title: "Upstow", description, section: "home", body: renderHome(publicUrl), version }),
  );

  let opened: ReturnType<typeof openPages> | undefined;
  const docs = () => {
    opened ??= openPages(openDocs(api(), publicUrl), publicUrl, version);
    return opened;
  };
  return {
    find: (path) => pages.find(path) ?? docs().find(path),
    search: (query) => docs().search(query, 8),
    async renderSearch(query) {
      const body = renderSearchPage(query, await docs().search(query, 20));
      return toPage(
        html,
        renderShell({ title: `Search: ${query}`, description, section: "docs", body, version }),
      );
    },
  };
}

function openPages(library: DocsLibrary, publicUrl: string, version: string) {
  const pages = createPages();
  pages.add("/llms.txt", "text/plain; charset=utf-8", () => renderLlmsText(library, publicUrl));
  const renderPage = (page: DocPage) =>
    renderShell({
      title: `${page.title} · Upstow`,
      description: page.summary,
      section: "docs",
      body: renderDocPage(page, library.navigation),
      version,
      ...(page.path === "reference/explorer" ? { extra: "explorer" } : {}),
    });
  for (const page of library.pages) {
    pages.add(`/docs/${page.path}`, html, () => renderPage(page));
    pages.add(`/docs/${page.path}.md`, "text/markdown; charset=utf-8", () => page.markdown);
  }
  const [first] = library.pages;
  if (first !== undefined) pages.add("/docs", html, () => renderPage(first));
  const pictures = { webp: "image/webp", svg: "image/svg+xml" };
  for (const [ending, type] of Object.entries(pictures)) {
    for (const name of globSync(`images/*.${ending}`, { cwd: docsFolder }))
      pages.add(`/docs/${name}`, type, () => readFileSync(docsFolder + name));
  }
  return { find: pages.find, search: createDocsSearch(library) };
}

function createPages() {
  const pages = new Map<string, () => SitePage>();
  return {
    add(path: string, type: string, render: () => string | Buffer) {
      let page: SitePage | undefined;
      pages.set(path, () => {
        page ??= toPage(type, render());
        return page;
      });
    },
    find: (path: string) => pages.get(path)?.() ?? null,
  };
}

function toPage(type: string, body: string | Buffer): SitePage {
  return { type, body, etag: `"${hash("sha256", body).slice(0, 32)}"` };
}
