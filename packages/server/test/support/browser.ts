import { type Browser, chromium } from "playwright-core";
import { findCommand } from "../../../../scripts/debian-packages.mjs";

const executablePath = findCommand("chromium");

/** For `{ skip: browserMissing }`: false, or why the test cannot run on this machine. */
export const browserMissing: string | false =
  executablePath === null && "chromium is not installed on this machine";

export function startBrowser(flags: string[] = []): Promise<Browser> {
  if (executablePath === null) throw new Error("chromium is not installed");
  // Containers and root have no user namespaces to build the sandbox from; the pages are our own.
  return chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage", ...flags],
    // On a machine without a locale it could not write down a name beyond ASCII.
    env: { ...process.env, LC_ALL: "C.UTF-8" },
  });
}
