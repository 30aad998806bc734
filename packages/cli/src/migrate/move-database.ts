import { openPostgres } from "@upstow/server/adapters/postgres";
import type { Config } from "@upstow/server/config";
import {
  abandonDatabase,
  type MoveDatabaseReport,
  moveDatabase,
} from "@upstow/server/features/relocation/database/move-database";
import { describeDatabase } from "@upstow/server/features/relocation/describe-target";
import { type Call, OperatorError } from "../command.ts";
import { alone, openEmbedded } from "./open-source.ts";
import { createProgress } from "./progress.ts";
import { resumable } from "./resumable.ts";

const command = "migrate database";
const labels = { copy: "Copying rows", compare: "Comparing rows" };

export async function runMoveDatabase(call: Call): Promise<MoveDatabaseReport> {
  const config = call.config();
  const url = getTargetUrl(config);
  const progress = createProgress(call, (rows) => rows.toLocaleString("en"));
  let isReadOnly = false;
  return alone(config, () =>
    resumable({ command, isReadOnly: () => isReadOnly }, async () => {
      await using open = new AsyncDisposableStack();
      const source = open.adopt(await openEmbedded(config), (database) => database.close());
      const target = open.adopt(openTarget(url), (database) => database.close());
      await target.check();
      return await moveDatabase({
        source,
        target,
        description: describeDatabase(url),
        now: Date.now,
        onProgress: ({ step, done, total }) => progress.show(labels[step], done, total),
        onReadOnly() {
          isReadOnly = true;
          call.note("The service is read-only from now on; files are served meanwhile.");
        },
      });
    }),
  );
}

export async function runAbandonDatabase(call: Call): Promise<void> {
  const config = call.config();
  await alone(config, async () => {
    await using open = new AsyncDisposableStack();
    const source = open.adopt(await openEmbedded(config), (database) => database.close());
    // Without the address it cannot be asked whether a service was started there.
    const target =
      config.databaseUrl === null
        ? null
        : open.adopt(openTarget(config.databaseUrl), (database) => database.close());
    await abandonDatabase(source, target, Date.now());
  });
}

const openTarget = (url: string) => openPostgres(url, { maxConnections: 2 });

function getTargetUrl({ databaseUrl }: Config): string {
  if (databaseUrl !== null) return databaseUrl;
  throw new OperatorError(
    "CONFIGURATION",
    "Set UPSTOW_DATABASE_URL for this command to the empty PostgreSQL database that the rows are to go to; leave the service as it is.",
  );
}
