import { hash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { configFolder } from "../config-folder.ts";
import type { Credentials } from "../credentials.ts";

/** Missed events older than this are no longer of interest. */
const keptMs = 24 * 60 * 60 * 1000;

/** The last event that reached a local server, so that a restarted `listen` continues after it. */
export interface Position {
  find(): string | null;
  save(lastEventId: string): void;
}

export function createPosition(
  env: NodeJS.ProcessEnv,
  { url, apiKey }: Credentials,
  target: string,
): Position {
  const folder = join(configFolder(env), "listen");
  const path = join(folder, `${hash("sha256", `${url}\n${apiKey}\n${target}`).slice(0, 32)}.json`);
  return {
    find() {
      const { lastEventId, savedAt } = read(path);
      const isFresh = typeof savedAt === "number" && Date.now() - savedAt < keptMs;
      return isFresh && typeof lastEventId === "string" ? lastEventId : null;
    },
    save(lastEventId) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const draft = `${path}.${process.pid}`;
      writeFileSync(draft, JSON.stringify({ lastEventId, savedAt: Date.now() }));
      renameSync(draft, path);
    },
  };
}

/** An unreadable position is treated as none: new events still arrive. */
function read(path: string): { lastEventId?: unknown; savedAt?: unknown } {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return {};
  }
}
