import { RATE_WINDOW_SEC } from "@upstow/contract";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { createCustomerBuckets, openDatabase, openFormer, openKeyring, openStorage } from "./app/compose.ts";
import { type FirstStart, setUpInstallation } from "./app/first-start.ts";
import { keepHouse, writeTallies } from "./app/housekeeping.ts";
import { createHttp } from "./app/http.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/database.ts";
import { createJobLeases, createSeat } from "./db/job-leases.ts";
import { openSharedClock } from "./db/shared-clock.ts";
import type { Deps } from "./deps.ts";
import { createImageTypes } from "./files/image-facts.ts";
import { createImporter, type ImporterOptions } from "./files/imports/importer.ts";
import { createTypeDetector } from "./files/inspection/type-detector.ts";
import { createScanner } from "./files/scanning/scanner.ts";
import { createCertificateRenewal } from "./http/listener.ts";
import { createMetrics, createTransferMetrics } from "./http/metrics.ts";
import { openMetricsListener } from "./http/metrics-listener.ts";
import { openRateLimiter } from "./http/rate-limiter/index.ts";
import { openReadOnlyMode, unlessReadOnly } from "./http/read-only.ts";
import type { Tracing } from "./http/tracing.ts";
import { serviceAuthor } from "./kernel/actor.ts";
import { createEventLoopGuard } from "./kernel/event-loop-guard.ts";
import { createFairTurns } from "./kernel/fair-turns.ts";
import { addressOf, checkAddress } from "./kernel/net/listen-address.ts";
import { createOutboundGuard } from "./kernel/net/outbound-guard.ts";
import type { ResolveName } from "./kernel/net/resolve-name.ts";
import type { PasswordCost } from "./kernel/security/passwords.ts";
import { type Background, createBackground } from "./ops/background.ts";
import {
  countDamagedReads,
  createBackgroundMetrics,
  exposeBacklog,
  exposeState,
  measureCalls,
} from "./ops/metrics.ts";
import {
  checkRelocations,
  followRelocations,
  refuseEmptyTarget,
} from "./ops/relocation/follow-relocations.ts";
import { createLastUsed } from "./projects/api-keys/authenticate.ts";
import { createCustomHosts } from "./projects/cdn-domain/custom-hosts.ts";
import { createObjectStores } from "./projects/customer-storage/customer-stores.ts";
import { createBandwidth } from "./serving/bandwidth.ts";
import { findTools, listToolTypes, type Tools } from "./serving/images/render/tools/recipes.ts";
import { openTransforms } from "./serving/images/transforms.ts";
import { createCdnPurge } from "./serving/purge.ts";
import { createDispatcher, type DispatcherOptions } from "./webhooks/dispatcher.ts";

export interface App {
  http: FastifyInstance;
  deps: Deps;
  /** What to show the operator on the first start; null on every later one. */
  firstStart: FirstStart | null;
  listen(): Promise<void>;
  /** Stops accepting requests, finishes those in flight, then releases everything. */
  close(): Promise<void>;
}

export interface AppOptions {
  logger: FastifyBaseLogger;
  now?: () => number;
  rateWindowMs?: number;
  bodyWithinMs?: number;
  /** How long a client may stall a body or a response. */
  idleTransferMs?: number;
  certificateLookMs?: number;
  /** For tests; no variable sets it, so the service always hashes at full cost. */
  passwordCost?: PasswordCost;
  webhooks?: DispatcherOptions;
  imports?: (Omit<ImporterOptions, "isResting"> & { resolve?: ResolveName }) | undefined;
  /** Otherwise those that are installed. */
  tools?: Tools;
  /** How long images give way to everything else on the machine; not at all in tests, which would wait for each other. */
  renderPatienceMs?: number;
  /** How many log lines could not be written. */
  droppedLogLines?: () => number;
}

async function openTraces(config: Config, db: Database, log: FastifyBaseLogger): Promise<Tracing | null> {
  if (config.tracing === null) return null;
  const { openTracing } = await import("./http/tracing.ts");
  return openTracing(config.tracing, {
    databaseName: db.dialect === "sqlite" ? "sqlite" : "postgresql",
    log,
  });
}

/** Longer than scrapes are apart. */
const seatMs = 90_000;

/** The composition root: the program and the tests both start here. If it fails, everything already opened is closed. */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  await using opened = new AsyncDisposableStack();
  const base = await openBase(config, options, opened);
  const { log, readOnly, guard, isSpeaker, storage } = base;
  const { deps, dispatcher, scanner } = createDeps(base, options, opened);
  // The first keys are shown when the server listens, and never again.
  const firstStart = await setUpInstallation(deps, () => checkAddress(addressOf(config)));
  const services = {
    lastUsed: createLastUsed(deps.db),
    bandwidth: deps.bandwidth,
    transforms: await openTransforms(deps, options.renderPatienceMs),
    importer: createImporter(deps, { ...options.imports, isResting: readOnly.isOn }),
    scanner,
  };
  opened.defer(async () => {
    await services.transforms.close();
    // An unavailable database must not prevent the rest from closing.
    await unlessReadOnly(writeTallies(services)).catch((error) =>
      log.error({ err: error }, "the last tallies are lost"),
    );
  });
  exposeState(deps, readOnly);
  exposeBacklog(deps, isSpeaker);
  const watch = startBackground(base, deps, services, opened);
  opened.defer(() => services.importer.close());
  opened.defer(() => scanner.close());
  opened.defer(() => dispatcher.close());
  const http = await createHttp(deps, services, readOnly, {
    bodyWithinMs: options.bodyWithinMs,
    idleTransferMs: options.idleTransferMs,
    transferMetrics: base.transferMetrics,
    guard,
    tracing: base.tracing,
    checkRedis: base.limiter.check,
    addStorageRoutes: (app) => storage.addRoutes(app, deps.limiter, readOnly),
  });
  opened.defer(() => http.close());
  if (config.tls !== null) {
    const renew = createCertificateRenewal(http.server, config.tls, log);
    watch.every(options.certificateLookMs ?? 30_000, "look for a renewed certificate", renew);
  }
  const running = opened.move();
  return {
    http,
    deps,
    firstStart,
    async listen() {
      await http.listen(addressOf(config));
      guard.start();
      dispatcher.start();
      if (config.s3 !== null) void lookAtBucket(deps, http);
    },
    close: () => running.disposeAsync(),
  };
}

/** Otherwise uploads would still be sent there, and only their senders would see the errors. */
async function lookAtBucket({ store, log }: Deps, http: FastifyInstance): Promise<void> {
  try {
    await store.check();
  } catch (error) {
    if (http.server.listening)
      log.error({ err: error }, "the bucket cannot be used, so uploads fail; see `upstow doctor`");
  }
}

type Base = Awaited<ReturnType<typeof openBase>>;

/** Everything in `Deps`: database, storage, limits and metrics. */
async function openBase(config: Config, options: AppOptions, opened: AsyncDisposableStack) {
  const windowMs = options.rateWindowMs ?? RATE_WINDOW_SEC * 1000;
  const log = options.logger;
  const keyring = openKeyring(config);
  const db = opened.adopt(await openDatabase(config), (database) => database.close());
  const clock = await openSharedClock(db);
  const now = options.now ?? clock.now;
  await checkRelocations({ config, db, log });
  await refuseEmptyTarget(db, () => openFormer(config));
  const metrics = createMetrics(options.droppedLogLines);
  opened.defer(measureCalls(metrics));
  const tracing = await openTraces(config, db, log);
  if (tracing !== null) opened.defer(tracing.close);
  const isSpeaker = createSeat(db, "report what all instances share", seatMs);
  if (config.metricsAddress !== null)
    opened.adopt(await openMetricsListener(metrics, config.metricsAddress, config), (open) => open.close());
  const transferMetrics = createTransferMetrics(metrics);
  const transfers = { idleMs: options.idleTransferMs, onSlowBody: transferMetrics.countCutSender };
  const storage = opened.adopt(await openStorage({ config, db, keyring, log, now }, transfers), (open) =>
    open.close(),
  );
  await followRelocations({ config, db, log, now });
  const readOnly = await openReadOnlyMode({ config, db, log });
  const limiter = opened.adopt(
    await openRateLimiter({ db, redisUrl: config.redisUrl, windowMs, now, log }),
    (open) => open.close(),
  );
  const guard = opened.adopt(createEventLoopGuard(log, metrics), (open) => open.close());
  const plain = { config, db, keyring, limiter, metrics, log, now };
  return { ...plain, windowMs, clock, tracing, isSpeaker, transferMetrics, storage, readOnly, guard };
}

/** With the parts of them that have to be started or closed. */
function createDeps(base: Base, options: AppOptions, opened: AsyncDisposableStack) {
  const { config, db, keyring, limiter, metrics, log, now, storage, readOnly, guard, isSpeaker } = base;
  const customerBuckets = createCustomerBuckets(config);
  const webhookGuard = createOutboundGuard({ allow: config.webhookAllowCidrs });
  const importGuard = createOutboundGuard({
    allow: config.importAllowCidrs,
    usualPortOnly: true,
    ...(options.imports?.resolve === undefined ? {} : { resolve: options.imports.resolve }),
  });
  const outbox = { config, db, keyring, webhookGuard, metrics, isSpeaker, log, now };
  const dispatcher = createDispatcher(outbox, {
    isResting: readOnly.isOn,
    runJob: guard.runJob,
    ...options.webhooks,
  });
  const tools = options.tools ?? findTools();
  const unscanned: Omit<Deps, "scanner"> = {
    config,
    db,
    store: storage.store,
    stores: createObjectStores({ db, keyring }, storage.store, customerBuckets),
    customerBuckets,
    customHosts: createCustomHosts({ config, db }),
    limiter,
    keyring,
    webhookGuard,
    importGuard,
    dispatcher,
    bandwidth: createBandwidth(db, now),
    cdn: config.cdnPurge && createCdnPurge(config.cdnPurge),
    turns: createFairTurns(),
    passwordCost: options.passwordCost,
    author: serviceAuthor,
    metrics,
    tools,
    imageTypes: createImageTypes(listToolTypes(tools)),
    typeDetector: opened.adopt(createTypeDetector(), (detector) => detector.close()),
    onDamagedRead: countDamagedReads({ metrics, log }),
    log,
    now,
  };
  const scanner = createScanner(unscanned, readOnly.isOn);
  const deps: Deps = { ...unscanned, scanner };
  return { deps, dispatcher, scanner };
}

/** Returns what also runs while nothing may change. */
function startBackground(
  { db, log, metrics, guard, readOnly, clock, storage, windowMs }: Base,
  deps: Deps,
  services: Parameters<typeof keepHouse>[2],
  opened: AsyncDisposableStack,
): Background {
  const jobs = {
    runLeased: createJobLeases(db),
    runJob: guard.runJob,
    metrics: createBackgroundMetrics(metrics),
  };
  const watch = opened.adopt(createBackground(log, jobs), (running) => running.close());
  watch.every(1_000, "look whether the installation is being moved", readOnly.look);
  watch.every(60_000, "compare clocks", clock.adjust);
  const background = opened.adopt(createBackground(log, { ...jobs, isResting: readOnly.isOn }), (running) =>
    running.close(),
  );
  keepHouse(background, deps, services, windowMs);
  storage.keepHouse(background);
  return watch;
}
