import { setTimeout as wait } from "node:timers/promises";
import type { Database } from "../packages/server/src/db/database.ts";
import { createId } from "../packages/server/src/kernel/ids.ts";
import { insertAccount } from "../packages/server/src/projects/accounts/queries.ts";
import { createKey } from "../packages/server/src/projects/api-keys/api-keys.ts";
import { createProject } from "../packages/server/src/projects/projects.ts";
import { type Cluster, startCluster } from "./cluster/cluster.ts";
import { judgeFiles } from "./cluster/judge-files.ts";
import { createHookedRoute, startSdkClients } from "./cluster/sdk-clients.ts";
import type { Outcome, RunOptions } from "./scenario.ts";

const clients = 6;
const shareInParts = 0.03;
/** Twenty-four restarts, one after the other, take two minutes or more. */
const roundMs = 5_000;
/** Calls to "everything else" that a key may make a minute. */
const otherLimit = 10;
const burst = 25;

/** Three instances share a database and a bucket and are ended and started one after the other under load. */
export async function rollingRestart({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  const cluster = await startCluster({ instances: 3, storage: "s3" });
  const violations: string[] = [];
  const seen = { bursts: 0, letIn: 0, refused: 0, lost: 0, kills: 0 };
  try {
    await createHookedRoute(cluster);
    const uploading = startSdkClients(cluster, random, clients, shareInParts);
    const count = () => ({
      "of them without warning (SIGKILL)": seen.kills,
      "uploads completed": uploading.done.length,
      "of them multipart": uploading.inParts(),
      "uploads failed": uploading.failures.length,
      "events received": cluster.receiver.received.length,
      "bursts against a rate limit": seen.bursts,
      "of their requests accepted": seen.letIn,
      "of their requests rejected": seen.refused,
      "of their requests lost with an instance": seen.lost,
    });
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      const pause = wait(roundMs);
      const how = random.chance(0.5) ? "kill" : "stop";
      if (how === "kill") seen.kills++;
      const instance = cluster.instances[round % cluster.instances.length];
      const [, letIn] = await Promise.all([instance?.restart(how), countLetIn(cluster, seen)]);
      violations.push(...letIn);
      await pause;
      onRound(round, count());
    }
    await uploading.stop();
    violations.push(...uploading.failures, ...(await judgeFiles(cluster, uploading.done)));
    return { counts: count(), violations };
  } finally {
    await cluster.close();
  }
}

/** More calls at once than a key may make in a minute, spread over all instances while one of them goes away. */
async function countLetIn(cluster: Cluster, seen: Record<"bursts" | "letIn" | "refused" | "lost", number>) {
  const key = await createLimitedKey(cluster.db);
  const answers = await Promise.all(
    Array.from({ length: burst }, () =>
      cluster.call("GET", "usage", { key }).then(
        ({ status }) => status,
        () => 502,
      ),
    ),
  );
  const times = (status: number) => answers.filter((answer) => answer === status).length;
  const [letIn, refused] = [times(200), times(429)];
  const lost = burst - letIn - refused;
  seen.bursts++;
  seen.letIn += letIn;
  seen.refused += refused;
  seen.lost += lost;
  const isExact = letIn <= otherLimit && letIn + lost >= otherLimit;
  return isExact ? [] : [`a limit of ${otherLimit} let ${letIn} in, with ${lost} lost: ${answers.join(" ")}`];
}

/** A key of an account that has the usual limits. */
function createLimitedKey(db: Database): Promise<string> {
  const now = Date.now();
  const tier = "pro";
  return db.transact(async (tx) => {
    const id = createId(now);
    await tx.get(insertAccount, { id, email: `${id}@example.com`, passwordHash: null, tier, now });
    const project = await createProject(tx, now, { accountId: id, tier }, "limited");
    const wanted = { projectId: project.id, tier, type: "live", name: "limited" } as const;
    return (await createKey(tx, now, wanted)).secret;
  });
}
