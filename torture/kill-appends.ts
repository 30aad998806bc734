import { statement } from "../packages/server/src/db/statement.ts";
import type { DatabaseKind } from "../packages/server/test/support/start-app.ts";
import { createBucketEnv } from "../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../test/support/swift.ts";
import { createAppender, type Growing } from "./appends.ts";
import { createInstallation, type Installation } from "./installation.ts";
import { createKilledWork } from "./killed-work.ts";
import { NotPossible } from "./not-possible.ts";
import type { Random } from "./random.ts";
import { listUploaded, recount } from "./recount.ts";
import { type Outcome, type RunOptions, runClients, runLanes } from "./scenario.ts";

const clients = 4;
const mostViolations = 20;

interface Pair {
  database: DatabaseKind;
  store: "disk" | "s3";
}

/** The usual ones first. */
const pairs: [Pair, ...Pair[]] = [
  { database: "sqlite", store: "disk" },
  { database: "postgres", store: "s3" },
  { database: "sqlite", store: "s3" },
  { database: "postgres", store: "disk" },
];

const nameOf = ({ database, store }: Pair) =>
  `${database}, files ${store === "s3" ? "in a bucket" : "on disk"}`;
const noKills = Object.fromEntries(pairs.map((pair) => [`kills on ${nameOf(pair)}`, 0]));

const listEvents = statement((q, _: object) =>
  q.selectFrom("webhook_message").select("file_id").where("event", "=", "upload.completed"),
);
const listNames = statement((q, _: object) =>
  q.selectFrom("file").select(["id", "name"]).where("status", "=", "UPLOADED"),
);

/** Kills the server while it receives appends, with each database and each store side by side. */
export async function killAppends({ rounds, random, ...options }: RunOptions): Promise<Outcome> {
  if (swiftMissing) throw new NotPossible(swiftMissing);
  const bucket = await startSwift();
  const waiting = [...pairs];
  const killOne = async (own: RunOptions): Promise<Outcome> => {
    const pair = waiting.shift() ?? pairs[0];
    const env = pair.store === "s3" ? await createBucketEnv(bucket) : {};
    const installation = await createInstallation(env, undefined, pair.database);
    try {
      return await killAppendsOn(installation, own, pair);
    } finally {
      await installation.remove();
    }
  };
  try {
    const seed = random.int(0, 2 ** 31 - 1);
    const outcome = await runLanes(killOne, { ...options, rounds, seed, lanes: pairs.length });
    return { ...outcome, counts: { ...noKills, ...outcome.counts } };
  } finally {
    await bucket.stop();
  }
}

async function killAppendsOn(
  installation: Installation,
  { rounds, random, isTimeUp, onRound }: RunOptions,
  pair: Pair,
): Promise<Outcome> {
  const place = nameOf(pair);
  const run = createRun(installation, random);
  let kills = 0;
  const count = () => ({ [`kills on ${place}`]: kills, ...run.count() });
  while (kills < rounds && !isTimeUp() && run.violations.length < mostViolations) {
    await run.killDuringAppends();
    onRound(++kills, count());
  }
  await run.finishAll(pair.store);
  return { counts: count(), violations: run.violations.map((violation) => `on ${place}: ${violation}`) };
}

function createRun(installation: Installation, random: Random) {
  let answers = 0;
  const appender = createAppender(installation, random, () => {
    answers++;
  });
  const violations: string[] = [];
  const uploads: Growing[] = [];
  /** Files that were stored whole by a creation whose response was lost. */
  let unseen = 0;
  async function beginOne(): Promise<Growing> {
    const upload = appender.begin();
    uploads.push(upload);
    return upload;
  }

  const work = createKilledWork({
    ...{ installation, random, clients, violations },
    answers: () => answers,
    open: beginOne,
    finish: appender.finish,
  });

  async function finishAll(store: "disk" | "s3"): Promise<void> {
    const server = await installation.start();
    for (const finish of work.resumeAll()) await runClients(server, [finish], violations);
    const files = await installation.withDatabase((db) => db.all(listNames, {}));
    const idOf = new Map(files.map(({ id, name }) => [name, id]));
    for (const { names, sha256 } of uploads) {
      const ids = names.flatMap((name) => idOf.get(name) ?? []);
      for (const id of ids) await runClients(server, [() => appender.download(id, sha256)], violations);
      unseen += ids.length - 1;
    }
    await server.stop();
    violations.push(...(await recount(installation, store)), ...(await compareWithRows()));
  }

  async function compareWithRows(): Promise<string[]> {
    const rows = await listUploaded(installation);
    const events = await installation.withDatabase((db) => db.all(listEvents, {}));
    const eventsOf = Map.groupBy(events, ({ file_id }) => file_id);
    const stuck = uploads.filter(({ fileId }) => fileId === null || !rows.has(fileId)).length;
    return [
      ...(stuck === 0 ? [] : [`${stuck} uploads could not be finished`]),
      ...(rows.size === uploads.length + unseen ? [] : [`of ${rows.size} files, some were sent by nobody`]),
      ...[...rows]
        .filter((id) => eventsOf.get(id)?.length !== 1)
        .map((id) => `${id} has ${eventsOf.get(id)?.length ?? 0} events`),
    ];
  }

  const count = () => ({
    "requests acknowledged": answers,
    "uploads started": uploads.length,
    "uploads finished": uploads.filter(({ fileId }) => fileId !== null).length,
    "creations that carried data": uploads.reduce((sum, { withBytes }) => sum + withBytes, 0),
    "creations repeated after a kill": uploads.reduce(
      (sum, { names }) => sum + Math.max(0, names.length - 1),
      0,
    ),
    "files stored although the response was lost": unseen,
    "resumed after a kill": work.resumed(),
  });

  return { violations, killDuringAppends: work.runRound, finishAll, count };
}
