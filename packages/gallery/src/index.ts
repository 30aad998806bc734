import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { catalogue } from "@upstow/react/catalogue";
import { renderShell } from "@upstow/site/layout";
import { createRegistry, createRegistryItem } from "./registry.ts";
import { type Assets, renderComponent, renderOverview } from "./render.ts";

export interface GalleryPage {
  type: string;
  body: string | Buffer;
  etag: string;
  /** Its name changes with its content. */
  isImmutable: boolean;
}

export interface Gallery {
  /** A page, an asset or an item of the registry; null where there is none. */
  find(path: string): GalleryPage | null;
}

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const html = "text/html; charset=utf-8";
const json = "application/json; charset=utf-8";

export function openGallery(options: { publicUrl: string; version: string }): Gallery {
  const { publicUrl, version } = options;
  const assets: Assets = JSON.parse(readFileSync(`${dist}manifest.json`, "utf8"));
  const makers = new Map<string, () => GalleryPage>();
  const made = new Map<string, GalleryPage>();
  const page = (title: string, description: string, body: string) =>
    toPage(html, renderShell({ title, description, section: "components", body, version }));

  makers.set("/components", () =>
    page("Components · Upstow", "Upload components for React, live.", renderOverview(assets, publicUrl)),
  );
  makers.set("/r/registry.json", () => toPage(json, toJson(createRegistry(`${publicUrl}/components`))));
  for (const entry of catalogue) {
    makers.set(`/components/${entry.slug}`, () =>
      page(`${entry.name} · Upstow`, entry.description, renderComponent(entry, assets, publicUrl)),
    );
    makers.set(`/r/${entry.slug}.json`, () => toPage(json, toJson(createRegistryItem(entry))));
  }
  const types = { script: "text/javascript; charset=utf-8", styles: "text/css; charset=utf-8" };
  for (const kind of ["script", "styles"] as const) {
    makers.set(`/components/assets/${assets[kind]}`, () =>
      toPage(types[kind], readFileSync(dist + assets[kind]), true),
    );
  }

  return {
    find(path) {
      const known = made.get(path) ?? makers.get(path)?.() ?? null;
      if (known !== null) made.set(path, known);
      return known;
    },
  };
}

const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

function toPage(type: string, body: string | Buffer, isImmutable = false): GalleryPage {
  return { type, body, etag: `"${hash("sha256", body).slice(0, 32)}"`, isImmutable };
}
