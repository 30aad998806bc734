import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { statement } from "../packages/server/src/db/statement.ts";
import { assertCountersMatch } from "../packages/server/test/support/recount.ts";
import type { TestApp } from "../packages/server/test/support/start-app.ts";
import type { Installation } from "./installation.ts";

const listFiles = statement((q, _: object) => q.selectFrom("file").select(["id", "status"]));
const listBlobs = statement((q, _: object) =>
  q.selectFrom("disk_object").select("blob").where("blob", "is not", null).where("state", "!=", "gone"),
);
const listRows = statement((q, _: object) => q.selectFrom("disk_small_blob").select("blob"));
const listPartBlobs = statement((q, _: object) => q.selectFrom("disk_part").select("blob"));

/** Compares counters with rows and rows with the disk; call while no server runs. Returns what is wrong. */
export async function recount(installation: Installation, store: "disk" | "s3" = "disk"): Promise<string[]> {
  return installation.withDatabase(async (db) => {
    const wrong: string[] = [];
    const uploaded = (await db.all(listFiles, {})).filter(({ status }) => status === "UPLOADED").length;
    const asApp = { app: { deps: { db, store: { name: store } } } } as unknown as TestApp;
    await assertCountersMatch(asApp, installation.projectId, { live: uploaded, test: 0 }).catch((error) => {
      wrong.push(`the counters differ from a recount: ${error.message}`);
    });
    if (store === "s3") return wrong;
    const kept = await readdir(join(installation.dataDir, "objects", "blobs"), { recursive: true });
    const onDisk = new Set(kept.map((path) => basename(path)));
    const needed = [...(await db.all(listBlobs, {})), ...(await db.all(listPartBlobs, {}))];
    const rows = new Set((await db.all(listRows, {})).map(({ blob }) => blob));
    const missing = needed.filter(({ blob }) => blob !== null && !onDisk.has(blob) && !rows.has(blob));
    const unneeded = rows.difference(new Set(needed.map(({ blob }) => blob)));
    if (unneeded.size > 0) wrong.push(`${unneeded.size} rows of bytes belong to nothing`);
    if (missing.length > 0) wrong.push(`${missing.length} blobs are missing`);
    return wrong;
  });
}

/** The ids of all files that count as uploaded. */
export async function listUploaded(installation: Installation): Promise<Set<string>> {
  const rows = await installation.withDatabase((db) => db.all(listFiles, {}));
  return new Set(rows.filter(({ status }) => status === "UPLOADED").map(({ id }) => id));
}
