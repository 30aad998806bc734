import { hash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import {
  type ApiDocument,
  createDocsSearch,
  type DocPage,
  type DocsLibrary,
  docsFolder,
  openDocs,
} from "@upstow/mcp/docs";
import { findAsset } from "./assets.ts";
import { renderDocsHome } from "./docs-home.ts";
import { isApiPage, renderDocPage, renderSearchPage } from "./docs-pages.ts";
import { renderErrorBody, type ShownError } from "./error-page.ts";
import { renderHome } from "./home.ts";
import { renderShell } from "./layout.ts";
import { renderLlmsText } from "./llms-text.ts";
import { renderUploadBody, type UploadOffer } from "./upload-page.ts";

export type { ApiDocument };

export interface SitePage {
  type: string;
  body: string | Buffer;
  etag: string;
  /** Its URL changes with its content. */
  isImmutable?: boolean;
}

export interface Site {
  /** A page by its path; null where there is none. */
  find(path: string): SitePage | null;
  /** The page that lists hits, for browsers without script. */
  renderSearch(query: string): Promise<SitePage>;
  search(query: string): Promise<object[]>;
  /** The page of an upload link. */
  renderUpload(offer: UploadOffer): string;
  /** The page of an error, for people. */
  renderError(error: ShownError): string;
}

const html = "text/html; charset=utf-8";

export interface SiteOptions {
  publicUrl: string;
  version: string;
  api(): ApiDocument;
}

/** Rendering everything takes much of a second, so each page is rendered on first request. */
export function openSite({ publicUrl, version, api }: SiteOptions): Site {
  const description =
    "A file upload service that you run yourself: presigned and resumable uploads, image variants, private files and signed webhooks.";
  const pages = createPages();
  pages.add("/", html, () =>
    renderShell({
      title: "Upstow: file uploads on your own server",
      description,
      section: "home",
      body: renderHome(publicUrl),
      version,
      extras: ["welcome"],
    }),
  );

  pages.add("/robots.txt", "text/plain; charset=utf-8", () => "User-agent: *\nDisallow: /api/\n");

  let opened: ReturnType<typeof openPages> | undefined;
  const docs = () => {
    opened ??= openPages(openDocs(api(), publicUrl), publicUrl, version);
    return opened;
  };
  return {
    find: (path) => findAsset(path) ?? pages.find(path) ?? docs().find(path),
    search: (query) => docs().search(query, 8),
    renderUpload: (offer) =>
      renderShell({
        title: "Upload files",
        description: "Upload files with this link.",
        section: "none",
        body: renderUploadBody(offer),
        version,
        extras: ["upload"],
        isBare: true,
      }),
    renderError: (error) =>
      renderShell({
        title: `${error.status === 404 ? "Page not found" : `Error ${error.status}`} · Upstow`,
        description,
        section: "none",
        body: renderErrorBody(error),
        version,
        isBare: error.deadLink !== undefined,
      }),
    async renderSearch(query) {
      const body = renderSearchPage(query, await docs().search(query, 20));
      return toPage(
        html,
        renderShell({
          title: query === "" ? "Search the docs" : `Search: ${query}`,
          description,
          section: "docs",
          body,
          version,
        }),
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
      section: isApiPage(page.path) ? "api" : "docs",
      body: renderDocPage(page, library.navigation),
      version,
      extras: isApiPage(page.path) ? ["explorer"] : [],
    });
  for (const page of library.pages) {
    pages.add(`/docs/${page.path}`, html, () => renderPage(page));
    pages.add(`/docs/${page.path}.md`, "text/markdown; charset=utf-8", () => page.markdown);
  }
  pages.add("/docs", html, () =>
    renderShell({
      title: "Documentation · Upstow",
      description: "Guides, concepts, operations and reference.",
      section: "docs",
      body: renderDocsHome(library, publicUrl),
      version,
    }),
  );
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
