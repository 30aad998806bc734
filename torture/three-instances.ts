import { setTimeout as wait } from "node:timers/promises";
import { type Cluster, startCluster } from "./cluster/cluster.ts";
import { judgeFiles } from "./cluster/judge-files.ts";
import { type Call, describeStep, startLedgerClients } from "./cluster/ledger-clients.ts";
import { createHookedRoute } from "./cluster/sdk-clients.ts";
import type { Random } from "./random.ts";
import type { Outcome, RunOptions } from "./scenario.ts";

const clients = 4;
const quietMs = 8_000;
const faultMs = 8_000;
/** A step of an upload that a fault interrupted succeeds within this time after the fault. */
const mostRetryMs = 10_000;
/** How much slower other projects may be while one instance stands still. */
const mostSlower = 3;
/** Below this, the ratio of two durations is noise. */
const negligibleMs = 100;

type Fault = (cluster: Cluster, random: Random, onNoticed: () => void) => Promise<void>;

const anInstance = ({ instances }: Cluster, random: Random) =>
  instances[random.int(0, instances.length - 1)] ?? instances[0];

/** What happens to an installation on several machines. */
const faults: Record<string, Fault> = {
  "an instance killed": async (cluster, random) => anInstance(cluster, random)?.restart("kill"),
  "an instance ended": async (cluster, random) => anInstance(cluster, random)?.restart("stop"),
  "an instance frozen": async (cluster, random, onNoticed) =>
    anInstance(cluster, random)?.freeze(faultMs, onNoticed),
  "all instances killed": async ({ instances }) =>
    void (await Promise.all(instances.map((instance) => instance.restart("kill")))),
  "PostgreSQL crashed": ({ postgres }) => postgres.restartImmediate(),
  "PostgreSQL out of reach": async ({ network }) => {
    network.setSilent(true);
    await wait(faultMs);
    network.setSilent(false);
  },
  "Redis frozen": async ({ redis }) => {
    const goOn = redis?.pause();
    await wait(faultMs);
    goOn?.();
  },
  "Redis killed": async ({ redis }) => redis?.restart(),
  "the bucket closing connections": ({ s3 }) => breakBucket(s3, "reset"),
  "the bucket silent": ({ s3 }) => breakBucket(s3, "hang"),
};

async function breakBucket(s3: Cluster["s3"], kind: "reset" | "hang"): Promise<void> {
  s3?.setFaults(() => ({ kind }));
  await wait(faultMs);
  s3?.setFaults(() => null);
}

/** Every fault in turn, while two projects upload through three instances and record the responses. */
export async function threeInstances({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  const cluster = await startCluster({ instances: 3, storage: "s3", withRedis: true });
  const violations: string[] = [];
  const mostMs: Record<string, number> = {};
  const note = (label: string, ms: number) => {
    mostMs[label] = Math.max(mostMs[label] ?? 0, ms);
  };
  try {
    await createHookedRoute(cluster);
    const { url, key } = cluster;
    const busy = startLedgerClients({ url, key, routeSlug: "hooked", random, count: clients });
    const second = await createProject(cluster);
    const other = startLedgerClients({ url, key: second.key, routeSlug: "default", random, count: 2 });
    const count = () => ({
      "uploads acknowledged": busy.done.length + other.done.length,
      "uploads failed": busy.failures.length + other.failures.length,
      "events received": cluster.receiver.received.length,
      ...mostMs,
    });
    const names = Object.keys(faults);
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      const name = names[(round - 1) % names.length] ?? "";
      const quietFrom = performance.now();
      await wait(quietMs);
      const from = performance.now();
      // On a machine that is busy with other things, faults are not what takes long.
      note(
        "p99 of all steps without a fault (ms)",
        findP99([...busy.calls, ...other.calls], quietFrom, from),
      );
      let noticedAt: number | null = null;
      await faults[name]?.(cluster, random, () => {
        noticedAt = performance.now();
      });
      const until = performance.now();
      await wait(mostRetryMs);
      note(`slowest step after ${name} (ms)`, findSlowest([...busy.calls, ...other.calls], until));
      for (const step of [...busy.open, ...other.open])
        if (step.startedAt < until)
          violations.push(`after ${name}, a step took over ${mostRetryMs} ms: ${describeStep(step)}`);
      if (noticedAt !== null) {
        const before = findP99(other.calls, quietFrom, from);
        const during = findP99(other.calls, noticedAt, until);
        note("p99 of the other project before a freeze (ms)", before);
        note("p99 of the other project during a freeze (ms)", during);
        if (during > Math.max(mostSlower * before, negligibleMs))
          violations.push(`another project's p99 was ${during} ms during a freeze, ${before} before`);
      }
      onRound(round, count());
    }
    await Promise.all([busy.stop(), other.stop()]);
    violations.push(...busy.failures, ...other.failures);
    violations.push(
      ...(await judgeFiles(cluster, busy.done, { givenUp: busy.givenUp })),
      ...(await judgeFiles({ ...cluster, projectId: second.projectId }, other.done, {
        hasEvents: false,
        givenUp: other.givenUp,
      })),
    );
    return { counts: count(), violations };
  } finally {
    await cluster.close();
  }
}

async function createProject({ call, key }: Cluster): Promise<{ projectId: string; key: string }> {
  const body = { name: "other", createKeys: ["live"] };
  const { status, body: created } = await call("POST", "projects", { key, body });
  if (status !== 201) throw new Error(`no second project: ${JSON.stringify(created)}`);
  return { projectId: created.project._id, key: created.keys[0].secret };
}

/** The longest that a step, started before the end of a fault, took after it. */
function findSlowest(calls: Call[], until: number): number {
  const crossing = calls.filter(({ startedAt, endedAt }) => startedAt < until && endedAt >= until);
  return Math.round(Math.max(0, ...crossing.map(({ endedAt }) => endedAt - until)));
}

/** Of the steps that started in between. */
function findP99(calls: Call[], from: number, until: number): number {
  const tookMs = calls
    .filter(({ startedAt }) => startedAt >= from && startedAt < until)
    .map(({ startedAt, endedAt }) => endedAt - startedAt)
    .sort((one, another) => one - another);
  return Math.round(tookMs[Math.floor(tookMs.length * 0.99)] ?? 0);
}
