import { resolve } from "node:path";
import type { Call } from "./command.ts";

/** A path as the caller means it: `npm run upstow` starts in the repository, wherever it was called. */
export function givenPath({ env }: Pick<Call, "env">, path: string): string {
  const calledFrom = env["npm_lifecycle_event"] === "upstow" ? env["INIT_CWD"] : undefined;
  return calledFrom === undefined || calledFrom === process.cwd() ? path : resolve(calledFrom, path);
}
