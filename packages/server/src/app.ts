import "./http/request-context.ts";
import { RATE_WINDOW_SEC } from "@upstow/contract";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { createDatabaseRateLimiter, deleteEndedWindows } from "./adapters/rate-limiter/database.ts";
import { createMemoryRateLimiter } from "./adapters/rate-limiter/memory.ts";
import { type Background, createBackground } from "./background.ts";
import { openDatabase, openKeyring } from "./compose.ts";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { AppError } from "./errors.ts";
import { type FirstStart, setUpInstallation } from "./features/accounts/first-start.ts";
import { createLastUsed, type LastUsed } from "./features/api-keys/last-used.ts";
import { logRequests } from "./http/access-log.ts";
import { customerApi } from "./http/api.ts";
import { answerErrorsInEnvelope } from "./http/error-handler.ts";
import { answerHealthProbes } from "./http/health.ts";
import { deleteOldCalls } from "./http/idempotency-queries.ts";
import { acceptJsonBodies } from "./http/json-body.ts";
import { trackMethods } from "./http/method-not-allowed.ts";
import { createMetrics, exposeMetrics } from "./http/metrics.ts";
import { describeApi } from "./http/openapi.ts";
import { requireHttps } from "./http/require-https.ts";
import { createHttpFrame } from "./http/server.ts";
import { validateRequests } from "./http/validation.ts";
import { createOutboundGuard } from "./net/outbound-guard.ts";
import { version } from "./version.ts";

export interface App {
  http: FastifyInstance;
  deps: Deps;
  /** What to show the operator the first time; null on every later start. */
  firstStart: FirstStart | null;
  listen(): Promise<void>;
  /** Takes no new requests, finishes those in flight, then lets go of everything. */
  close(): Promise<void>;
}

export interface AppOptions {
  logger: FastifyBaseLogger;
  now?: () => number;
  rateWindowMs?: number;
}

/** The composition root: the program and the tests both start here. */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const now = options.now ?? Date.now;
  const windowMs = options.rateWindowMs ?? RATE_WINDOW_SEC * 1000;
  const keyring = openKeyring(config);
  const db = await openDatabase(config);
  const deps: Deps = {
    config,
    db,
    store: undefined as never,
    limiter:
      db.dialect === "sqlite"
        ? createMemoryRateLimiter(windowMs, now)
        : createDatabaseRateLimiter(db, windowMs),
    keyring,
    webhookGuard: createOutboundGuard({ allow: config.webhookAllowCidrs }),
    log: options.logger,
    now,
  };
  const firstStart = await setUpInstallation(deps);
  const lastUsed = createLastUsed(db);
  const background = createBackground(options.logger);
  keepHouse(background, deps, lastUsed, windowMs);
  const http = await createHttp(deps, lastUsed);

  return {
    http,
    deps,
    firstStart,
    async listen() {
      await http.listen({ host: config.host, port: config.port });
    },
    async close() {
      await http.close();
      await background.close();
      await lastUsed.flush();
      await db.close();
    },
  };
}

async function createHttp(deps: Deps, lastUsed: LastUsed): Promise<FastifyInstance> {
  const { config } = deps;
  const app = createHttpFrame({ tls: config.tls, logger: deps.log });
  const methods = trackMethods(app);
  const describe = describeApi(app, version);
  answerErrorsInEnvelope(app);
  acceptJsonBodies(app);
  validateRequests(app);
  logRequests(app);
  requireHttps(app, config.trustedProxies);
  exposeMetrics(app, createMetrics(), config.metricsToken);
  answerHealthProbes(app, deps);
  app.get("/api/v1/openapi.json", { schema: { hide: true } }, async () => describe(config.publicUrl));
  customerApi(app, deps, lastUsed);
  app.setNotFoundHandler(() => {
    throw new AppError("NOT_FOUND", "There is nothing at this path.", {
      suggestion: "Check the path; the API is described at /api/v1/openapi.json.",
    });
  });
  await app.after();
  methods.answerOthers();
  await app.ready();
  return app;
}

function keepHouse(background: Background, deps: Deps, lastUsed: LastUsed, windowMs: number): void {
  background.every(10_000, "write down when keys were used", () => lastUsed.flush());
  background.every(3_600_000, "forget old idempotency keys", () => deps.db.run(deleteOldCalls, {}));
  background.every(60_000, "forget ended rate windows", () => deps.db.run(deleteEndedWindows, { windowMs }));
}
