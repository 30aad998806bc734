import type { Config } from "@upstow/server/config";
import { openPostgres } from "@upstow/server/db/postgres/postgres";
import { listReasons } from "@upstow/server/http/read-only";
import {
  abandonDatabase,
  type MoveDatabaseReport,
  moveDatabase,
} from "@upstow/server/ops/relocation/database/move-database";
import { describeDatabase } from "@upstow/server/ops/relocation/follow-relocations";
import { type Call, OperatorError } from "../command.ts";
import { operatorOf } from "../operator.ts";
import { alone, openEmbedded } from "./open-source.ts";
import { createProgress } from "./progress.ts";
import { resumable, unusable } from "./resumable.ts";

const command = "migrate database";
const labels = { copy: "Copying rows", compare: "Comparing rows" };

export async function runMoveDatabase(call: Call): Promise<MoveDatabaseReport> {
  const config = call.config();
  const url = getTargetUrl(config);
  const progress = createProgress(call, (rows) => rows.toLocaleString("en"));
  let isReadOnly = false;
  return alone(config, () =>
    resumable({ command, isReadOnly: () => isReadOnly, note: call.note }, async () => {
      await using open = new AsyncDisposableStack();
      const source = open.adopt(await openEmbedded(config), (database) => database.close());
      const target = open.adopt(openTarget(url), (database) => database.close());
      await target.check().catch((error: unknown) => {
        throw unusable("database", error, "UPSTOW_DATABASE_URL");
      });
      return await moveDatabase({
        source,
        target,
        description: describeDatabase(url),
        now: Date.now,
        author: operatorOf(call),
        onProgress: ({ step, done, total }) => progress.show(labels[step], done, total),
        onReadOnly() {
          isReadOnly = true;
          call.note("The service is now read-only; files are still served.");
        },
      });
    }),
  );
}

export interface AbandonReport {
  /** Whether the service accepts changes again; a storage move may still be in progress. */
  isWritable: boolean;
  /** Whether the copy was marked, so that no service starts on it. */
  isMarked: boolean;
}

export async function runAbandonDatabase(call: Call): Promise<AbandonReport> {
  const config = call.config();
  return alone(config, async () => {
    await using open = new AsyncDisposableStack();
    const source = open.adopt(await openEmbedded(config), (database) => database.close());
    // Without its URL, there is no way to check whether a service was started on it.
    const target =
      config.databaseUrl === null
        ? null
        : open.adopt(openTarget(config.databaseUrl), (database) => database.close());
    await target?.check().catch((error: unknown) => {
      throw unusable("database", error, "UPSTOW_DATABASE_URL, or leave it out if that database is gone");
    });
    const isMarked = await abandonDatabase(source, target, Date.now(), operatorOf(call));
    return { isWritable: (await source.all(listReasons, {})).length === 0, isMarked };
  });
}

const openTarget = (url: string) => openPostgres(url, { maxConnections: 2 });

function getTargetUrl({ databaseUrl }: Config): string {
  if (databaseUrl !== null) return databaseUrl;
  throw new OperatorError(
    "CONFIGURATION",
    "Set UPSTOW_DATABASE_URL to the empty target PostgreSQL database for this command only; leave the service as it is.",
  );
}
