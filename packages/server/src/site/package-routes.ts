import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config.ts";
import { AppError } from "../kernel/errors.ts";

const folder = new URL("../../../../dist/packages/", import.meta.url);
const headers = { "x-content-type-options": "nosniff", "cache-control": "no-cache" };

interface Packed {
  name: string;
  version: string;
  file: string;
  content: Buffer;
  etag: string;
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
    reply.headers(headers);
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
    reply.headers({ ...headers, etag: wanted.etag });
    if (request.headers["if-none-match"] === wanted.etag) return reply.code(304).send();
    return reply.type("application/gzip").send(wanted.content);
  });
}

/** npx runs what it has from a URL, however old. A URL with a version gets that version. */
const nameWithVersion = ({ file, version }: Packed) => file.replace(/\.tgz$/, `-${version}.tgz`);

async function readPackages(): Promise<Packed[]> {
  const list: Omit<Packed, "content" | "etag">[] = JSON.parse(
    await readFile(new URL("packages.json", folder), "utf8"),
  );
  return Promise.all(
    list.map(async (entry) => {
      const content = await readFile(new URL(entry.file, folder));
      return { ...entry, content, etag: `"${hash("sha256", content).slice(0, 32)}"` };
    }),
  );
}

function noSuchPackage(): AppError {
  return new AppError("NOT_FOUND", "Package not found.", {
    suggestion: "GET /packages lists the packages and their current versions.",
  });
}
