import { statement } from "../packages/server/src/db/statement.ts";
import type { DatabaseKind } from "../packages/server/test/support/start-app.ts";
import { createBucketEnv } from "../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../test/support/swift.ts";
import { createAppender, type Growing } from "./appends.ts";
import { onBothDatabases } from "./both-databases.ts";
import { createInstallation, type Installation } from "./installation.ts";
import { createKilledWork } from "./killed-work.ts";
import { NotPossible } from "./not-possible.ts";
import type { Random } from "./random.ts";
import { listUploaded, recount } from "./recount.ts";
import { type Outcome, type RunOptions, runClients, sumUp } from "./scenario.ts";

const clients = 4;
const mostViolations = 20;

const listEvents = statement((q, _: object) =>
  q.selectFrom("webhook_message").select("file_id").where("event", "=", "upload.completed"),
);

/** Kills the server while it receives appends, on both databases and both stores. */
export const killAppends = onBothDatabases("kills", killAppendsOn);

async function killAppendsOn(options: RunOptions, database: DatabaseKind): Promise<Outcome> {
  if (swiftMissing) throw new NotPossible(swiftMissing);
  // Of one round each, the usual pairs: SQLite with the disk, PostgreSQL with a bucket.
  const inBucket = (database === "sqlite" ? Math.floor : Math.ceil)(options.rounds / 2);
  const onDisk = await killAppendsTo({ ...options, rounds: options.rounds - inBucket }, database, "disk");
  const onRound = (round: number, counts: Record<string, number>) =>
    options.onRound(round, sumUp([onDisk.counts, counts]));
  const rest = await killAppendsTo({ ...options, rounds: inBucket, onRound }, database, "s3");
  return {
    counts: sumUp([onDisk.counts, rest.counts]),
    violations: [...onDisk.violations, ...rest.violations.map((violation) => `in a bucket, ${violation}`)],
  };
}

async function killAppendsTo(
  { rounds, random, isTimeUp, onRound }: RunOptions,
  database: DatabaseKind,
  store: "disk" | "s3",
): Promise<Outcome> {
  if (rounds === 0) return { counts: {}, violations: [] };
  const bucket = store === "s3" ? await startSwift() : null;
  try {
    const env = bucket === null ? {} : await createBucketEnv(bucket);
    const installation = await createInstallation(env, undefined, database);
    const run = createRun(installation, random);
    const place = store === "s3" ? "in a bucket" : "on disk";
    let kills = 0;
    const count = () => ({ [`kills with files ${place}`]: kills, ...run.count() });
    try {
      while (kills < rounds && !isTimeUp() && run.violations.length < mostViolations) {
        await run.killDuringAppends();
        onRound(++kills, count());
      }
      await run.finishAll(store);
      return { counts: count(), violations: run.violations };
    } finally {
      await installation.remove();
    }
  } finally {
    await bucket?.stop();
  }
}

function createRun(installation: Installation, random: Random) {
  let answers = 0;
  const appender = createAppender(installation, random, () => {
    answers++;
  });
  const violations: string[] = [];
  const uploads: Growing[] = [];
  async function openOne(): Promise<Growing> {
    const upload = await appender.open();
    uploads.push(upload);
    return upload;
  }

  const work = createKilledWork({
    ...{ installation, random, clients, violations },
    answers: () => answers,
    open: openOne,
    finish: appender.finish,
  });

  async function finishAll(store: "disk" | "s3"): Promise<void> {
    const server = await installation.start();
    for (const finish of work.resumeAll()) await runClients(server, [finish], violations);
    for (const upload of uploads)
      if (upload.file !== null) await runClients(server, [() => appender.download(upload)], violations);
    await server.stop();
    violations.push(...(await recount(installation, store)), ...(await compareWithRows()));
  }

  async function compareWithRows(): Promise<string[]> {
    const rows = await listUploaded(installation);
    const events = await installation.withDatabase((db) => db.all(listEvents, {}));
    const eventsOf = Map.groupBy(events, ({ file_id }) => file_id);
    const known = new Set(uploads.map(({ file }) => file?.id));
    const stuck = uploads.filter(({ file }) => file === null || !rows.has(file.id)).length;
    return [
      ...(stuck === 0 ? [] : [`${stuck} uploads could not be finished`]),
      ...[...rows].filter((id) => !known.has(id)).map((id) => `${id} counts as uploaded, but nobody sent it`),
      ...[...rows]
        .filter((id) => eventsOf.get(id)?.length !== 1)
        .map((id) => `${id} has ${eventsOf.get(id)?.length ?? 0} events`),
    ];
  }

  const count = () => ({
    "requests acknowledged": answers,
    "uploads started": uploads.length,
    "uploads finished": uploads.filter(({ file }) => file !== null).length,
    "resumed after a kill": work.resumed(),
  });

  return { violations, killDuringAppends: work.runRound, finishAll, count };
}
