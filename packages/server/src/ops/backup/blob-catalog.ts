import type { Database, Queryable } from "../../db/database.ts";

/** A file of immutable bytes that the database names. */
export interface Blob {
  blob: string;
  size_bytes: number;
  sha256: string;
  /** 1: known to be no longer what was stored. */
  damaged: number;
}

/** What the embedded store knows of its files. */
export interface BlobCatalog {
  /** Relative to the object directory. */
  pathOf(blob: string): string;
  /** By name, within the two bounds. */
  list(db: Queryable, page: { after: string; before: string; limit: number }): Promise<Blob[]>;
  markDamaged(db: Database, blob: string): Promise<unknown>;
}

const pageSize = 1000;
const afterAll = "~";

/** All blobs, or those whose name begins in a certain way, a page at a time. */
export async function* eachPage(catalog: BlobCatalog, db: Queryable, prefix = ""): AsyncGenerator<Blob[]> {
  let after = prefix;
  for (;;) {
    const page = await catalog.list(db, { after, before: `${prefix}${afterAll}`, limit: pageSize });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.blob;
  }
}

export async function isNamed(catalog: BlobCatalog, db: Queryable, blob: string): Promise<boolean> {
  const near = { after: blob.slice(0, -1), before: `${blob}0`, limit: pageSize };
  return (await catalog.list(db, near)).some((row) => row.blob === blob);
}
