import { readFile } from "node:fs/promises";
import type { Gallery } from "@upstow/gallery";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config.ts";
import type { Deps } from "../deps.ts";
import {
  type PageSources,
  pageSources,
  type StaticFile,
  sendStatic,
  toStaticFile,
} from "../http/static-file.ts";
import { AppError } from "../kernel/errors.ts";
import { version } from "../kernel/version.ts";

const folder = new URL("../../../../dist/packages/", import.meta.url);
const noSniff = { "x-content-type-options": "nosniff" };

interface Packed extends StaticFile {
  name: string;
  version: string;
  file: string;
}

/** The client packages as npm tarballs, so that an application needs nothing but its instance. */
export function packageRoutes(app: FastifyInstance, { publicUrl }: Config): void {
  const schema = { hide: true };
  let reading: Promise<Packed[]> | undefined;
  const packed = () => {
    reading ??= readPackages();
    return reading;
  };

  app.get("/packages", { schema }, async (_request, reply) => {
    const packages = await packed();
    reply.headers({ ...noSniff, "cache-control": "no-cache" });
    return {
      packages: packages.map(({ name, version, file }) => ({
        name,
        version,
        url: `${publicUrl}/packages/${file}`,
      })),
    };
  });

  app.get<{ Params: { file: string } }>("/packages/:file", { schema }, async (request, reply) => {
    const wanted = (await packed()).find(
      (entry) => entry.file === request.params.file || nameWithVersion(entry) === request.params.file,
    );
    if (wanted === undefined) throw noSuchPackage();
    return sendStatic(request, reply.headers(noSniff), wanted);
  });
}

/** npx runs what it has from a URL, however old. A URL with a version gets that version. */
const nameWithVersion = ({ file, version }: Packed) => file.replace(/\.tgz$/, `-${version}.tgz`);

async function readPackages(): Promise<Packed[]> {
  const list: Pick<Packed, "name" | "version" | "file">[] = JSON.parse(
    await readFile(new URL("packages.json", folder), "utf8"),
  );
  return Promise.all(
    list.map(async (entry) => {
      const content = await readFile(new URL(entry.file, folder));
      return { ...entry, ...toStaticFile("application/gzip", content) };
    }),
  );
}

function noSuchPackage(): AppError {
  return new AppError("NOT_FOUND", "Package not found.", {
    suggestion: "GET /packages lists the packages and their current versions.",
  });
}

const headers = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
};

/** No external and no inline resources; previews of selected files are the page's own blobs. */
function policyFor(own: PageSources): string {
  const assets = own("/components/assets/", "/assets/");
  return `default-src 'none'; script-src ${assets}; style-src ${assets}; font-src ${own("/assets/fonts/")}; img-src 'self' data: blob:; media-src blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
}

/** The live components, and the registry that serves their source. */
export function componentRoutes(app: FastifyInstance, deps: Deps): void {
  let opening: Promise<Gallery> | undefined;
  const gallery = () => {
    opening ??= import("@upstow/gallery").then(({ openGallery }) =>
      openGallery({ publicUrl: deps.config.publicUrl, version }),
    );
    return opening;
  };

  for (const path of ["/components", "/components/*", "/r/*"]) {
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      const wanted = request.url.split("?", 1)[0]?.replace(/(.)\/$/, "$1") ?? "";
      const page = (await gallery()).find(wanted);
      if (page === null) throw noSuchComponent();
      const policy = policyFor(pageSources(deps.config, request));
      return sendStatic(request, reply.headers({ ...headers, "content-security-policy": policy }), page);
    });
  }
}

function noSuchComponent(): AppError {
  return new AppError("NOT_FOUND", "Component not found.", { suggestion: "See /components for all." });
}
