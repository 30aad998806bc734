import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import type { FirstStart } from "./first-start.ts";
import { readyLine, welcome } from "./welcome.ts";

/** What to print once the server listens. Logs of containers are kept and shipped, so keys may go to a file instead. */
export function showFirstStart(config: Config, firstStart: FirstStart | null): string {
  const shown = welcome(config, firstStart);
  if (firstStart === null || config.firstStartKeys === "print") return shown;
  const path = join(config.dataDir, "first-start.txt");
  try {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
    // Not written into one that is there: it may be a link, or readable by others.
    rmSync(path, { force: true });
    writeFileSync(path, shown, { flag: "wx", mode: 0o600 });
    return `${readyLine(config)}\n\n  The keys of this first start are in ${path}. Read the file, then delete it.\n`;
  } catch (error) {
    return `${readyLine(config)}

  ${path} could not be written: ${(error as Error).message}.
  The keys of this first start are lost. Sign in with \`upstow account login-link\` and create others.
`;
  }
}
