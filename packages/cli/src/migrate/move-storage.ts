import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createBucketStore } from "@upstow/server/app/compose";
import type { S3Config } from "@upstow/server/config/services";
import type { Database } from "@upstow/server/db/database";
import { describeBucket } from "@upstow/server/ops/relocation/follow-relocations";
import type { BucketTarget } from "@upstow/server/ops/relocation/storage/copy-object";
import {
  abandonStorage,
  type MoveStorageReport,
  moveStorage,
} from "@upstow/server/ops/relocation/storage/move-storage";
import { isRowName, shardOf } from "@upstow/server/storage/disk/blob-name";
import { findSmallBlob } from "@upstow/server/storage/disk/small-blobs";
import { type Call, OperatorError } from "../command.ts";
import { formatBytes } from "../format.ts";
import { operatorOf } from "../operator.ts";
import { alone, openDatabaseOfFiles } from "./open-source.ts";
import { createProgress } from "./progress.ts";
import { resumable, unusable } from "./resumable.ts";

const command = "migrate storage";
const dayMs = 86_400_000;
const chunkBytes = 1024 * 1024;

export async function runMoveStorage(call: Call): Promise<MoveStorageReport> {
  const config = call.config();
  const { s3 } = config;
  if (s3 === null) {
    throw new OperatorError(
      "CONFIGURATION",
      "Set UPSTOW_S3_BUCKET and the other UPSTOW_S3_ variables to the target bucket for this command only; leave the service as it is.",
    );
  }
  const progress = createProgress(call, formatBytes);
  const label = { text: "Copying files" };
  let isReadOnly = false;
  return alone(config, () =>
    resumable({ command, isReadOnly: () => isReadOnly, note: call.note }, async () => {
      await using open = new AsyncDisposableStack();
      const db = open.adopt(await openDatabaseOfFiles(config), (database) => database.close());
      const { target, close } = await openTarget(s3);
      open.defer(close);
      const finish = call.options.has("finish");
      return await moveStorage(
        {
          db,
          target,
          openBlob: (blob) => openBlob(db, join(config.dataDir, "objects", "blobs"), blob),
          now: Date.now,
          author: operatorOf(call),
          onProgress: (done, planned) => progress.show(label.text, done.bytes, planned.bytes),
          onReadOnly() {
            isReadOnly = true;
            label.text = "Copying the rest";
            call.note("The service is now read-only; files are still served.");
          },
        },
        { finish, skipDamaged: call.options.has("skip-damaged") },
      );
    }),
  );
}

export async function runAbandonStorage(call: Call): Promise<void> {
  const config = call.config();
  await alone(config, async () => {
    const db = await openDatabaseOfFiles(config);
    try {
      await abandonStorage(db, Date.now(), operatorOf(call));
    } finally {
      await db.close();
    }
  });
}

/** Small files are rows in the database, the others are files on disk. */
async function openBlob(db: Database, root: string, blob: string) {
  if (!isRowName(blob))
    return createReadStream(join(root, shardOf(blob), blob), { highWaterMark: chunkBytes });
  const bytes = await findSmallBlob(db, blob);
  return bytes === null ? null : [bytes];
}

/** Probes the bucket first, to find problems before anything is copied. */
async function openTarget(s3: S3Config): Promise<{ target: BucketTarget; close: () => Promise<void> }> {
  const store = createBucketStore(s3);
  try {
    await store.probe();
  } catch (error) {
    await store.close();
    throw unusable("bucket", error, "UPSTOW_S3_BUCKET and the other UPSTOW_S3_ variables");
  }
  const target: BucketTarget = {
    description: describeBucket(s3),
    ...store.imports,
    findEtag: async (key) => (await store.head(key))?.etag ?? null,
    async delete(keys) {
      const [refused] = await store.delete(keys);
      if (refused !== undefined) throw refused.error;
    },
    async clearLeftovers() {
      const all = { stagedOlderThanMs: 0, uploadsIdleMs: 0, maxDeletions: Number.MAX_SAFE_INTEGER };
      // Independent of the bucket's clock.
      await store.sweep({ ...all, now: Date.now() + dayMs });
    },
  };
  return { target, close: () => store.close() };
}
