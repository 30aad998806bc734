import type { FastifyInstance } from "fastify";
import { ReadOnlyError } from "./read-only/read-only-error.ts";
import type { ReadOnlyMode } from "./read-only/read-only-mode.ts";

const reading = ["GET", "HEAD", "OPTIONS"];

/** While the installation is moved, whoever wants to change something hears so before anything is looked up. */
export function refuseChanges(app: FastifyInstance, mode: ReadOnlyMode): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const isRefused =
      mode.isOn() && !reading.includes(request.method) && !isExempt(request.routeOptions.config);
    if (isRefused) done(new ReadOnlyError());
    else done();
  });
}

const isExempt = (config: { whileReadOnly?: boolean } | undefined) => config?.whileReadOnly === true;
