// The process that makes the load. It reads the server's CPU time itself, at the very first and last operation.
import { openConnection } from "./connection.ts";
import type { LoadJob, LoadResult } from "./load-job.ts";
import { readCpuSec } from "./process-usage.ts";
import type { Scenario, Step, Target } from "./scenario.ts";

async function loadScenario(name: string): Promise<Scenario<Target>> {
  const module = (await import(`../scenarios/${name}.ts`)) as { default: Scenario<Target> };
  return module.default;
}

async function repeatUntil(endMs: number, step: Step, durationsMs: number[]): Promise<void> {
  let nowMs = performance.now();
  while (nowMs < endMs) {
    await step();
    const thenMs = nowMs;
    nowMs = performance.now();
    durationsMs.push(nowMs - thenMs);
  }
}

/** Clients spread over all instances, as a load balancer would do it. */
const portFor = ({ port, ports = [port] }: Target, client: number) => ports[client % ports.length] ?? port;

const readAll = (pids: LoadJob["pids"]) =>
  Object.fromEntries(
    Object.entries(pids).map(([role, pid]) => [
      role,
      [pid].flat().reduce((sum, one) => sum + readCpuSec(one), 0),
    ]),
  );

const ownCpuSec = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

async function run(job: LoadJob): Promise<LoadResult> {
  const scenario = await loadScenario(job.scenario);
  const connections = await Promise.all(
    Array.from({ length: job.clients }, (_, client) => openConnection(portFor(job.target, client))),
  );
  const steps = connections.map((connection, client) => scenario(job.target, connection, client));
  const durationsMs: number[] = [];
  const cpuBefore = readAll(job.pids);
  const clientCpuBefore = ownCpuSec();
  const startMs = performance.now();
  await Promise.all(steps.map((step) => repeatUntil(startMs + job.seconds * 1000, step, durationsMs)));
  const elapsedSec = (performance.now() - startMs) / 1000;
  const clientCpuSec = ownCpuSec() - clientCpuBefore;
  const cpuAfter = readAll(job.pids);
  for (const connection of connections) connection.close();
  durationsMs.sort((a, b) => a - b);
  const percentile = (share: number) => durationsMs[Math.floor((durationsMs.length - 1) * share)] ?? 0;
  return {
    operations: durationsMs.length,
    elapsedSec,
    cpuSec: Object.fromEntries(
      Object.entries(cpuAfter).map(([role, after]) => [role, after - (cpuBefore[role] ?? 0)]),
    ),
    clientCpuSec,
    medianMs: percentile(0.5),
    p99Ms: percentile(0.99),
  };
}

process.on("message", (job: LoadJob) => {
  run(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.stack : String(error) }),
  );
});
