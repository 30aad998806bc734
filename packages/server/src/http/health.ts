import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { Gauge } from "prom-client";
import type { Deps } from "../deps.ts";
import { AppError } from "../kernel/errors.ts";

/** Each throws, or hangs, while the dependency cannot be used. */
export interface DependencyChecks {
  database: () => Promise<void>;
  storage: () => Promise<void>;
  /** Null if none is configured. */
  redis: (() => Promise<void>) | null;
}

type Health = Record<string, "ok" | "unavailable">;

/** Probes give up after three seconds, and would then not know why. */
const patienceMs = 2_000;

/** Looks at everything the service depends on. Callers that ask at the same time share one look. */
function createLook(checks: DependencyChecks, log: Deps["log"]): () => Promise<Health> {
  const lost = new Set<string>();
  const running = new Map<string, Promise<boolean>>();

  function note(name: string, error: unknown): void {
    if (error === null && lost.delete(name)) log.info({ dependency: name }, "a dependency responds again");
    if (error === null || lost.has(name)) return;
    lost.add(name);
    log.warn({ err: error, dependency: name }, "a dependency does not respond");
  }

  function isWell(name: string, check: () => Promise<void>): Promise<boolean> {
    const known = running.get(name);
    if (known !== undefined) return known;
    const started = check()
      .then(
        () => null,
        (error: unknown) => error ?? new Error("unknown"),
      )
      .then((error) => {
        running.delete(name);
        note(name, error);
        return error === null;
      });
    running.set(name, started);
    return started;
  }

  return async () => {
    const named = Object.entries(checks).filter(([, check]) => check !== null);
    const found = named.map(async ([name, check]) => {
      const well = await Promise.race([isWell(name, check), wait(patienceMs, false, { ref: false })]);
      return [name, well ? "ok" : "unavailable"] as const;
    });
    return Object.fromEntries(await Promise.all(found));
  };
}

/**
 * Alive means that the process responds. Ready means that the database does too: without storage or Redis much still
 * works, and a load balancer that took out every instance at once would only replace our errors by its own.
 */
export function answerHealthProbes(
  app: FastifyInstance,
  { metrics, log }: Pick<Deps, "metrics" | "log">,
  checks: DependencyChecks,
): void {
  const look = createLook(checks, log);
  const config = { isProbe: true, plainHttp: true, customDomain: "always" } as const;
  const schema = { hide: true };
  app.get("/healthz", { config, schema }, async () => ({ status: "ok" }));
  app.get("/readyz", { config, schema }, async () => {
    const dependencies = await look();
    const missing = Object.keys(dependencies).filter((name) => dependencies[name] !== "ok");
    if (missing.includes("database")) throw notReady(missing);
    return { status: missing.length === 0 ? "ready" : "degraded", dependencies };
  });
  new Gauge({
    name: "upstow_dependency_up",
    help: "Whether a dependency responds: database, storage or redis.",
    labelNames: ["dependency"],
    registers: [metrics],
    async collect() {
      for (const [dependency, state] of Object.entries(await look()))
        this.set({ dependency }, state === "ok" ? 1 : 0);
    },
  });
}

function notReady(missing: string[]): AppError {
  return new AppError("SERVICE_UNAVAILABLE", `Not ready: ${missing.join(" and ")} unavailable.`, {
    suggestion: "Try again in a few seconds.",
    headers: { "retry-after": "5" },
  });
}
