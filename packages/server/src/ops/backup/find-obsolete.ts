import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Queryable } from "../../db/database.ts";
import { type BlobCatalog, eachPage } from "./blob-catalog.ts";

/** Files of an earlier backup that the database no longer names. */
export async function findObsolete(catalog: BlobCatalog, db: Queryable, objects: string): Promise<string[]> {
  const root = join(objects, "blobs");
  const obsolete: string[] = [];
  for (const shard of await readdir(root)) {
    const named = new Set<string>();
    for await (const page of eachPage(catalog, db, shard)) for (const row of page) named.add(row.blob);
    for (const blob of await readdir(join(root, shard))) {
      if (!named.has(blob)) obsolete.push(join(root, shard, blob));
    }
  }
  return obsolete;
}
