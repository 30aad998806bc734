import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Database } from "../../packages/server/src/db/database.ts";
import { openPostgres } from "../../packages/server/src/db/postgres/postgres.ts";
import { type SilentNetwork, startSilentNetwork } from "../../packages/server/test/support/silent-network.ts";
import { type Answer, type CallOptions, callApi } from "../../packages/server/test/support/start-app.ts";
import { createCertificate } from "../../packages/server/test/support/webhooks/certificate.ts";
import { type Receiver, startReceiver } from "../../packages/server/test/support/webhooks/receiver.ts";
import { type FaultProxy, startFaultProxy } from "../../test/support/fault-proxy.ts";
import { pickFreePort } from "../../test/support/free-port.ts";
import { type PostgresHandle, startPostgres } from "../../test/support/postgres.ts";
import { type RedisHandle, redisMissing, startRedis } from "../../test/support/redis.ts";
import { createBucketEnv } from "../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../test/support/swift.ts";
import { launch, liftRateLimits, type Server } from "../installation.ts";
import { NotPossible } from "../not-possible.ts";
import { startLoadBalancer } from "./load-balancer.ts";

/** Several instances of the real program over one PostgreSQL, behind a load balancer, with an endpoint for events. */
export interface Cluster {
  url: string;
  key: string;
  projectId: string;
  db: Database;
  postgres: PostgresHandle;
  /** Between the instances and PostgreSQL. */
  network: SilentNetwork;
  /** Null unless asked for. */
  redis: RedisHandle | null;
  /** Between the service and the bucket; clients go past it. Null where files lie on the disk. */
  s3: FaultProxy | null;
  receiver: Receiver;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  instances: Instance[];
  close(): Promise<void>;
}

export interface Instance {
  /** Ends the running program and starts it again. */
  restart(how: "kill" | "stop"): Promise<void>;
  /** Stops it for so long. The load balancer notices after two seconds. */
  freeze(ms: number, onNoticed: () => void): Promise<void>;
}

export interface ClusterOptions {
  instances: number;
  storage: "disk" | "s3";
  withRedis?: boolean;
}

/** As often as most load balancers ask. */
const noticedAfterMs = 2_000;

/** Everything that was started is ended when a later step fails, as it is in the end. */
export async function startCluster({
  instances,
  storage,
  withRedis = false,
}: ClusterOptions): Promise<Cluster> {
  if (storage === "s3" && swiftMissing !== false) throw new NotPossible(swiftMissing);
  if (withRedis && redisMissing !== false) throw new NotPossible(redisMissing);
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await mkdtemp(join(tmpdir(), "upstow-cluster-")), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  const certificate = await createCertificate();
  await writeFile(join(folder, "authority.pem"), certificate.cert);
  const receiver = opened.adopt(await startReceiver(certificate), (open) => open.close());
  const postgres = opened.adopt(await startPostgres(), (running) => running.stop());
  const network = await startSilentNetwork({ after: (close) => opened.defer(close) }, postgres.url);
  const redis = withRedis ? opened.adopt(await startRedis(), (running) => running.stop()) : null;
  const bucket = storage === "s3" ? await startBucket(opened) : null;
  const ports = await Promise.all(Array.from({ length: instances }, pickFreePort));
  const balancer = opened.adopt(await startLoadBalancer(ports), (open) => open.close());
  const url = `http://localhost:${balancer.port}`;

  const settings = {
    UPSTOW_HOST: "127.0.0.1",
    UPSTOW_PUBLIC_URL: url,
    UPSTOW_DATABASE_URL: network.url,
    ...(redis && { UPSTOW_REDIS_URL: redis.url }),
    UPSTOW_SECRET: "the secret that all instances of a torture share",
    UPSTOW_LOG_LEVEL: "error",
    UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    UPSTOW_WEBHOOK_RETRY_BASE_MS: "200",
    NODE_EXTRA_CA_CERTS: join(folder, "authority.pem"),
    ...bucket?.env,
  };
  const running = ports.map((port, i) =>
    createInstance(
      { ...settings, UPSTOW_PORT: String(port), UPSTOW_DATA_DIR: join(folder, String(i)) },
      (isAway) => balancer.setAway(port, isAway),
    ),
  );
  opened.defer(async () => void (await Promise.all(running.map((instance) => instance.end()))));
  // All at once, on an empty database: one of them makes the installation, the others find it.
  const outputs = await Promise.all(running.map((instance) => instance.start()));
  const first = outputs.find((output) => output.includes("svc_live_")) ?? "";
  const db = opened.adopt(openPostgres(postgres.url, { maxConnections: 2 }), (open) => open.close());
  await liftRateLimits(db);

  const resources = opened.move();
  return {
    url,
    key: /svc_live_\w+/.exec(first)?.[0] ?? "",
    projectId: /Project\s+(\w+)/.exec(first)?.[1] ?? "",
    db,
    postgres,
    network,
    redis,
    s3: bucket?.proxy ?? null,
    receiver,
    call: (method, path, options) => callApi(url, method, path, options),
    instances: running,
    close: () => resources.disposeAsync(),
  };
}

async function startBucket(opened: AsyncDisposableStack) {
  const swift = opened.adopt(await startSwift(), (running) => running.stop());
  const proxy = opened.adopt(await startFaultProxy(swift.endpoint), (open) => open.close());
  return { proxy, env: await createBucketEnv(swift, proxy) };
}

function createInstance(env: Record<string, string>, setAway: (isAway: boolean) => void) {
  let server: Server | null = null;
  async function start(): Promise<string> {
    const started = await launch(env);
    if (started.server === null) throw new Error(`an instance did not start:\n${started.output}`);
    server = started.server;
    return started.output;
  }
  return {
    start,
    async restart(how: "kill" | "stop") {
      await server?.[how]();
      await start();
    },
    async freeze(ms: number, onNoticed: () => void) {
      const goOn = server?.pause();
      await wait(noticedAfterMs);
      setAway(true);
      onNoticed();
      await wait(ms - noticedAfterMs);
      goOn?.();
      setAway(false);
    },
    end: async () => server?.kill(),
  };
}
