import { setTimeout as wait } from "node:timers/promises";
import { type Cluster, startCluster } from "./cluster/cluster.ts";
import { judgeFiles } from "./cluster/judge-files.ts";
import { createHookedRoute, startSdkClients } from "./cluster/sdk-clients.ts";
import type { Outcome, RunOptions } from "./scenario.ts";

const clients = 6;
const mostRecoveryMs = 5_000;

/** Ends PostgreSQL as a crash would, again and again, while clients upload through one instance. */
export async function postgresRestarts({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  const cluster = await startCluster({ instances: 1, storage: "disk" });
  const violations: string[] = [];
  let slowestMs = 0;
  try {
    await createHookedRoute(cluster);
    const uploading = startSdkClients(cluster, random, clients, 0);
    const count = () => ({
      "uploads completed": uploading.done.length,
      "uploads failed": uploading.failures.length,
      "events received": cluster.receiver.received.length,
      "slowest recovery (ms)": slowestMs,
    });
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      await waitForUploads(uploading.done, random.int(3, 12));
      // Clients come back together; a crash at just that moment, every time, would be no matter of chance.
      await wait(random.int(0, 2_000));
      await cluster.postgres.restartImmediate();
      const recoveryMs = await measureRecovery(cluster);
      slowestMs = Math.max(slowestMs, recoveryMs);
      if (recoveryMs > mostRecoveryMs)
        violations.push(`the service took ${recoveryMs} ms after restart ${round}`);
      onRound(round, count());
    }
    await uploading.stop();
    violations.push(...uploading.failures, ...(await judgeFiles(cluster, uploading.done)));
    return { counts: count(), violations };
  } finally {
    await cluster.close();
  }
}

/** On a slow machine too, the next crash meets clients that are in the middle of their work. */
async function waitForUploads(done: unknown[], more: number): Promise<void> {
  const enough = done.length + more;
  const deadlineMs = Date.now() + 20_000;
  while (done.length < enough && Date.now() < deadlineMs) await wait(20);
}

/** From the moment that PostgreSQL answers until a call that writes succeeds. */
async function measureRecovery({ call, key, projectId }: Cluster): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const body = { fileName: "probe.txt", fileSize: 5, contentType: "text/plain", routeSlug: "default" };
    const { status } = await call("POST", "upload/request", { key, body });
    if (status === 200) return Math.round(performance.now() - startedAt);
    if (performance.now() - startedAt > 60_000) throw new Error(`${projectId} did not come back in a minute`);
    await wait(20);
  }
}
