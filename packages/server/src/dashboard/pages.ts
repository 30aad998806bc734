import { hash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { dashboardFolder } from "@upstow/dashboard";

const compress = promisify(brotliCompress);

const types: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
};

export interface PageFile {
  type: string;
  etag: string;
  plain: Buffer;
  brotli: Buffer;
}

export interface Pages {
  index: PageFile;
  /** By name below assets/. */
  assets: Map<string, PageFile>;
}

/** The built dashboard, a few hundred kilobytes; null where it has not been built. */
export async function findPages(): Promise<Pages | null> {
  try {
    const names = await readdir(new URL("assets/", dashboardFolder));
    const assets = await Promise.all(
      names.map(async (name): Promise<[string, PageFile]> => [name, await readPage(`assets/${name}`)]),
    );
    return { index: await readPage("index.html"), assets: new Map(assets) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function readPage(path: string): Promise<PageFile> {
  const plain = await readFile(new URL(path, dashboardFolder));
  return {
    type: types[extname(path)] ?? "application/octet-stream",
    etag: `"${hash("sha256", plain, "base64url").slice(0, 22)}"`,
    plain,
    brotli: await compress(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  };
}
