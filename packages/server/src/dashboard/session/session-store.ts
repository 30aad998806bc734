import { callbackify } from "node:util";
import type { SessionStore } from "@fastify/session";
import type { Deps } from "../../deps.ts";
import { findSession } from "../sessions.ts";

/**
 * The table of sessions as the library may use it: to read, on every request, so that a revocation holds at once on
 * every instance. A row begins in the transaction that lets somebody in and ends in one of ours as well, together with
 * what else changes then. Writes and removals of the library come too early or too late for that, and change nothing.
 */
export function createSessionStore(deps: Pick<Deps, "db" | "now">): SessionStore {
  return {
    get: callbackify(async (token: string) => {
      const found = await findSession(deps, token);
      return found === null ? null : { ...found, cookie: { originalMaxAge: null } };
    }),
    set: (_token, _session, done) => done(),
    destroy: (_token, done) => done(),
  };
}
