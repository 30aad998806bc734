import { hash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { createUpstow } from "../../packages/sdk/src/server.ts";
import type { Random } from "../random.ts";
import type { Cluster } from "./cluster.ts";
import type { Done } from "./judge-files.ts";

const kib = 1024;
const inPartsBytes = 10 * kib * kib + 77;

export interface SdkClients {
  done: Done[];
  failures: string[];
  inParts(): number;
  /** Lets what was begun come to its end. */
  stop(): Promise<void>;
}

/** Clients that upload one file after the other with the SDK, to a route with a webhook, until they are stopped. */
export function startSdkClients(
  cluster: Cluster,
  random: Random,
  count: number,
  shareInParts: number,
): SdkClients {
  // A load balancer that lost an instance costs an attempt now and then; the SDK's users set this as they like.
  const upstow = createUpstow({ apiKey: cluster.key, baseUrl: cluster.url, retries: 8 });
  const done: Done[] = [];
  const failures: string[] = [];
  let [inParts, isStopped] = [0, false];

  async function uploadOne(): Promise<void> {
    const isLarge = random.chance(shareInParts);
    const bytes = Buffer.alloc(isLarge ? inPartsBytes : random.int(1, 200 * kib));
    bytes.writeUInt8(random.int(0, 255));
    bytes.fill(`${random.int(0, 2 ** 32 - 1)} `, 1, Math.min(bytes.length, 64));
    const file = await upstow.upload(bytes, { name: "torture.bin", routeSlug: "hooked", retries: 8 });
    done.push({ id: file.id, url: file.url, sha256: hash("sha256", bytes) });
    if (isLarge) inParts++;
  }

  async function work(): Promise<void> {
    while (!isStopped) {
      await uploadOne().catch((error: Error) => void failures.push(`an upload failed: ${describe(error)}`));
      await wait(random.int(0, 50));
    }
  }

  const working = Promise.all(Array.from({ length: count }, work));
  return {
    done,
    failures,
    inParts: () => inParts,
    async stop() {
      isStopped = true;
      await working;
    },
  };
}

export async function createHookedRoute({ call, key, projectId, receiver }: Cluster): Promise<void> {
  const body = { slug: "hooked", webhookUrl: `${receiver.url}/hook` };
  const created = await call("POST", `projects/${projectId}/routers`, { key, body });
  if (created.status !== 201) throw new Error(`no route: ${JSON.stringify(created.body)}`);
}

function describe(error: Error): string {
  const cause = error.cause === undefined ? "" : ` (${JSON.stringify(error.cause)})`;
  return `${error.message}${cause}`;
}
