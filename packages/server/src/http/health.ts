import type { FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";

/** Alive means the process answers; ready means what it stands on answers too. */
export function answerHealthProbes(app: FastifyInstance, deps: Deps): void {
  const config = { plainHttp: true, customDomain: "always" } as const;
  const schema = { hide: true };
  app.get("/healthz", { config, schema }, async () => ({ status: "ok" }));
  app.get("/readyz", { config, schema }, async () => {
    await Promise.all([deps.db.check(), deps.store.check()]);
    return { status: "ready" };
  });
}
