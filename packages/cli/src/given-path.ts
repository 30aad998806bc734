import { resolve } from "node:path";
import type { Call } from "./command.ts";

/** Resolves a path against the caller's folder: `npm run upstow` always starts in the repository. */
export function givenPath({ env }: Pick<Call, "env">, path: string): string {
  const calledFrom = env["npm_lifecycle_event"] === "upstow" ? env["INIT_CWD"] : undefined;
  return calledFrom === undefined || calledFrom === process.cwd() ? path : resolve(calledFrom, path);
}
