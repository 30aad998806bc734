import { join } from "node:path";
import { sql } from "kysely";
import { type Database, withCommit } from "../../packages/server/src/db/database.ts";
import { openPostgres } from "../../packages/server/src/db/postgres/postgres.ts";
import { openSqlite } from "../../packages/server/src/db/sqlite/sqlite.ts";
import { statement } from "../../packages/server/src/db/statement.ts";
import { enqueueUploadCompleted } from "../../packages/server/src/webhooks/enqueue.ts";
import { createFile } from "../../packages/server/test/support/webhooks/queue.ts";
import type { Upstow } from "./upstow.ts";

const perTransaction = 100;

const endMessages = statement((q, p: { routeSlug: string }) =>
  q
    .updateTable("webhook_message")
    .set({ state: "delivered", attempt_count: 1 })
    .where("route_slug", "=", p.routeSlug)
    .where(sql<boolean>`state = 'ready'`),
);

export interface EventBatch {
  routeSlug: string;
  urls: string[];
  count: number;
  /** As if they had been sent: a redelivery makes them wait again, all at once. */
  isDelivered?: boolean;
}

/** Puts events straight into the database: uploading thousands of files would take longer than sending their events. */
export async function insertEvents(
  upstow: Upstow,
  databaseUrl: string | undefined,
  { routeSlug, urls, count, isDelivered = false }: EventBatch,
): Promise<void> {
  const db = open(upstow, databaseUrl);
  for (let done = 0; done < count; done += perTransaction) {
    await db.transact(async (tx) => {
      for (let i = done; i < Math.min(count, done + perTransaction); i++) {
        const file = { ...createFile(upstow.projectId, "live"), route_slug: routeSlug };
        const webhookUrl = urls[i % urls.length] ?? null;
        await enqueueUploadCompleted(tx, Date.now(), {
          file,
          webhookUrl,
          fileUrl: `${upstow.url}/f/${file.key}`,
        });
      }
      // Events are written with the commit.
      if (isDelivered) await withCommit(tx, () => tx.run(endMessages, { routeSlug }));
    });
  }
  await db.close();
}

function open({ dataDir }: Upstow, databaseUrl: string | undefined): Database {
  return databaseUrl === undefined ? openSqlite(join(dataDir, "upstow.db")) : openPostgres(databaseUrl);
}
