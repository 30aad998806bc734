import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { statement } from "../packages/server/src/db/statement.ts";
import { smallBytes } from "../packages/server/src/storage/disk/blob-reader.ts";
import type { DiskStore } from "../packages/server/src/storage/disk/disk-store.ts";
import type { TestApp } from "../packages/server/test/support/start-app.ts";
import { createUploadClient, type UploadClient } from "../packages/server/test/support/upload-client.ts";
import type { Random } from "./random.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { inParallel, withApp } from "./with-app.ts";

/** Up to here every read compares the checksum before the first byte is sent; larger ones are the scrub's. */
const checkedOnReadBytes = smallBytes;
const lanes = 6;

interface Stored {
  url: string;
  sizeBytes: number;
}

const listRows = statement((q, _: object) => q.selectFrom("disk_small_blob").select(["blob", "bytes"]));
const replaceRow = statement((q, p: { blob: string; bytes: Uint8Array }) =>
  q.updateTable("disk_small_blob").set({ bytes: p.bytes }).where("blob", "=", p.blob),
);

/** Flips one bit in every blob, in files and in rows; not one of them may ever be served. */
export function flipBits({ rounds, random, onRound }: RunOptions): Promise<Outcome> {
  return withApp(random, async (app) => {
    const { live } = await app.createTenant("pro");
    const client = createUploadClient(app, live);
    const stored: Stored[] = [];
    await inParallel(rounds, lanes, async () => void stored.push(await upload(app, client, random)));
    const flipped = (await flipFiles(app, random)) + (await flipRows(app, random));
    const violations = flipped === rounds ? [] : [`${rounds} files were stored in ${flipped} blobs`];
    const counts = { "blobs damaged": flipped, "found when read": 0, "found by the scrub": 0 };
    const expectRefused = async (file: Stored) => {
      const { status, body } = await fetch(file.url);
      await body?.cancel();
      if (status === 200) violations.push(`damaged bytes were served at ${file.url}`);
      return status !== 200;
    };
    for (const file of stored.filter(({ sizeBytes }) => sizeBytes <= checkedOnReadBytes)) {
      if (await expectRefused(file)) counts["found when read"]++;
      onRound(1, counts);
    }
    const { damaged } = await (app.app.deps.store as DiskStore).scrub({ maxBlobs: rounds + 1 });
    counts["found by the scrub"] = damaged.length;
    for (const file of stored) {
      await expectRefused(file);
      if (file.sizeBytes > checkedOnReadBytes) onRound(1, counts);
    }
    const found = new Set(damaged.map(({ key }) => key)).size;
    if (found !== rounds) violations.push(`the scrub named ${found} of ${rounds} damaged files`);
    return { counts, violations };
  });
}

async function upload(app: TestApp, client: UploadClient, random: Random): Promise<Stored> {
  const sizeBytes = random.chance(0.2)
    ? random.int(checkedOnReadBytes + 1, 300_000)
    : random.int(1, checkedOnReadBytes);
  const bytes = Buffer.alloc(sizeBytes, `${random.int(0, 2 ** 31)} `);
  const file = await client.upload(bytes, { fileSize: sizeBytes });
  return { url: `${app.url}/f/${file.key}`, sizeBytes };
}

async function flipFiles(app: TestApp, random: Random): Promise<number> {
  const root = join(app.dataDir, "objects", "blobs");
  let flipped = 0;
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    await using file = await open(join(entry.parentPath, entry.name), "r+");
    const { size } = await file.stat();
    const at = random.int(0, size - 1);
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
    await file.write(Buffer.from([(buffer[0] ?? 0) ^ (1 << random.int(0, 7))]), 0, 1, at);
    flipped++;
  }
  return flipped;
}

async function flipRows(app: TestApp, random: Random): Promise<number> {
  const { db } = app.app.deps;
  const rows = await db.all(listRows, {});
  for (const { blob, bytes } of rows) {
    const flipped = Buffer.from(bytes);
    const at = random.int(0, flipped.length - 1);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << random.int(0, 7));
    await db.run(replaceRow, { blob, bytes: flipped });
  }
  return rows.length;
}
