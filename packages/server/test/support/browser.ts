import { type Browser, chromium } from "playwright-core";
import { findCommand } from "../../../../scripts/debian-packages.mjs";

/** The same engine without a window's frame, which no page here needs: a fifth of the CPU time. */
const executablePath = findCommand("chromium-headless-shell");

/** For `{ skip: browserMissing }`: false, or why the test cannot run on this machine. */
export const browserMissing: string | false =
  executablePath === null && "chromium-headless-shell is not installed on this machine";

export function startBrowser(flags: string[] = []): Promise<Browser> {
  if (executablePath === null) throw new Error("chromium-headless-shell is not installed");
  // Containers and root have no user namespaces to build the sandbox from; the pages are our own.
  return chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage", ...flags],
    // On a machine without a locale it could not write down a name beyond ASCII.
    env: { ...process.env, LC_ALL: "C.UTF-8" },
  });
}
