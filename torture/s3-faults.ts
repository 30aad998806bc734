import { hash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "../packages/server/src/db/database.ts";
import { statement } from "../packages/server/src/db/statement.ts";
import type { Answer } from "../packages/server/test/support/start-app.ts";
import type { Fault } from "../test/support/fault-proxy.ts";
import { type Cluster, startCluster } from "./cluster/cluster.ts";
import { type Done, judgeFiles } from "./cluster/judge-files.ts";
import type { Random } from "./random.ts";
import { type Outcome, type RunOptions, Violation } from "./scenario.ts";

const clients = 16;
const faultRate = 0.3;
const hangMs = 60_000;
/** What one instance may open. */
const poolSize = 20;
const mostTries = 60;
const contentType = "application/octet-stream";

const countBusy = statement((q, _: object) =>
  q.selectNoFrom(
    sql<number>`(select cast(count(*) as bigint) from pg_stat_activity
      where application_name = 'upstow' and pid <> pg_backend_pid() and state <> 'idle')`.as("busy"),
  ),
);
/** A deletion that failed often waits for long; here it is asked for again at once. */
const makeDeletionsDue = statement((q, _: object) => q.updateTable("storage_deletion").set({ run_at: 0 }));
const countDeletions = statement((q, _: object) =>
  q.selectFrom("storage_deletion").select((e) => e.fn.countAll<number>().as("count")),
);

/** Uploads, reads and deletes while three in ten requests to the bucket fail, break or hang. */
export async function s3Faults({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  const cluster = await startCluster({ instances: 1, storage: "s3" });
  const watch = watchPool(cluster.db);
  const run = createRun(cluster, random);
  try {
    cluster.s3?.setFaults(() => (random.chance(faultRate) ? chooseFault(random) : null));
    let begun = 0;
    const work = async () => {
      while (begun < rounds && !isTimeUp() && run.violations.length < 20) {
        begun++;
        await run.live();
        onRound(run.lives(), run.count());
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
    const counts = { ...run.count(), "requests to the bucket that failed": cluster.s3?.faultCount() ?? 0 };
    cluster.s3?.setFaults(() => null);
    const mostBusy = await watch.stop();
    if (mostBusy >= poolSize / 2) run.violations.push(`${mostBusy} of ${poolSize} connections were busy`);
    run.violations.push(...(await run.judge()));
    return {
      counts: { ...counts, [`most database connections busy over a second, of ${poolSize}`]: mostBusy },
      violations: run.violations,
    };
  } finally {
    await cluster.close();
  }
}

function chooseFault(random: Random): Fault {
  const isForwarded = random.chance(0.5);
  const kind = random.int(0, 9);
  if (kind < 3) return { kind: "answer", status: 500, isForwarded };
  if (kind < 5) return { kind: "answer", status: 503, body: "<Error><Code>SlowDown</Code></Error>" };
  if (kind < 8) return { kind: "reset", isForwarded };
  if (kind < 9) return { kind: "cut", afterBytes: 10 };
  return { kind: "wait", until: wait(hangMs, undefined, { ref: false }) };
}

function createRun(cluster: Cluster, random: Random) {
  const { call, key } = cluster;
  const violations: string[] = [];
  const kept: Done[] = [];
  const removed: { id: string; url: string; key: string }[] = [];
  let [lives, refusals] = [0, 0];

  /** A clean 503 is tried again; everything else than success breaks the promise. */
  async function insist(what: string, work: () => Promise<Answer>, mayBeGone = false): Promise<Answer> {
    for (let attempt = 0; attempt < mostTries; attempt++) {
      const answer = await work();
      if (answer.status === 200) return answer;
      // An answer that was refused may have been done: whoever asks again finds it so.
      if (answer.status === 404 && mayBeGone && attempt > 0) return answer;
      const isClean =
        answer.status === 503 &&
        answer.body?.error?.code === "SERVICE_UNAVAILABLE" &&
        Number(answer.headers.get("retry-after")) > 0;
      if (!isClean)
        throw new Violation(`${what} was answered with ${answer.status} ${JSON.stringify(answer.body)}`);
      refusals++;
      await wait(random.int(50, 500));
    }
    throw new Violation(`${what} was refused ${mostTries} times`);
  }

  async function uploadOne(): Promise<Done & { key: string }> {
    const bytes = Buffer.alloc(random.int(1, 100_000), `${random.int(0, 2 ** 32 - 1)} `);
    const wanted = { fileName: "fault.bin", fileSize: bytes.length, contentType, routeSlug: "default" };
    const { body } = await insist("a request", () => call("POST", "upload/request", { key, body: wanted }));
    const put = await fetch(body.uploadUrl, {
      method: "PUT",
      headers: { "content-type": contentType },
      body: bytes,
    });
    if (put.status !== 200) throw new Violation(`the bucket took no PUT: ${put.status}`);
    const headers = { "idempotency-key": body.fileId };
    await insist("a completion", () =>
      call("POST", "upload/complete", { key, headers, body: { fileId: body.fileId } }),
    );
    return { id: body.fileId, key: body.key, url: body.cdnUrl, sha256: hash("sha256", bytes) };
  }

  async function live(): Promise<void> {
    try {
      const file = await uploadOne();
      if (random.chance(0.3)) await readOne(file);
      if (random.chance(0.3)) {
        await insist(
          "a deletion",
          () => call("DELETE", `files/${encodeURIComponent(file.key)}`, { key }),
          true,
        );
        removed.push(file);
      } else kept.push(file);
    } catch (error) {
      violations.push(
        error instanceof Violation ? error.message : `a call failed: ${(error as Error).stack}`,
      );
    }
    lives++;
  }

  /** A download may break off; what comes whole has to be right. */
  async function readOne({ url, id, sha256 }: Done): Promise<void> {
    const answer = await fetch(url);
    const bytes = await answer.arrayBuffer().catch(() => null);
    if (bytes === null || answer.status === 503) return;
    if (answer.status !== 200 || hash("sha256", Buffer.from(bytes)) !== sha256)
      throw new Violation(`${id} was served with ${answer.status} and other bytes`);
  }

  async function judge(): Promise<string[]> {
    const wrong = await judgeFiles(cluster, kept, { hasEvents: false, deleted: removed.length });
    for (const { id, url } of removed)
      if ((await fetch(url)).status !== 404) wrong.push(`${id} was deleted and is served`);
    await cluster.db.run(makeDeletionsDue, {});
    for (let second = 0; ((await cluster.db.get(countDeletions, {}))?.count ?? 0) > 0; second++) {
      if (second > 180) return [...wrong, "deleted bytes are still waiting to be removed"];
      await wait(1_000);
    }
    return wrong;
  }

  const count = () => ({
    "files kept": kept.length,
    "files deleted": removed.length,
    "calls rejected with a clean 503": refusals,
  });
  return { violations, live, judge, count, lives: () => lives };
}

/** A request takes a connection for a moment at a time, so a second of such moments is what tells. */
function watchPool(db: Database) {
  let [most, isOver] = [0, false];
  const watching = (async () => {
    while (!isOver) {
      const samples: number[] = [];
      const untilMs = Date.now() + 1_000;
      while (Date.now() < untilMs) {
        samples.push((await db.get(countBusy, {}))?.busy ?? 0);
        await wait(20);
      }
      most = Math.max(most, samples.reduce((sum, busy) => sum + busy, 0) / samples.length);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await watching;
      return Math.round(most * 10) / 10;
    },
  };
}
