import { homedir } from "node:os";
import { join } from "node:path";

/** Where this user's programs keep their settings. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const home = env["HOME"] ?? homedir();
  const base =
    env["XDG_CONFIG_HOME"] || (process.platform === "win32" && env["APPDATA"]) || join(home, ".config");
  return join(base, "upstow");
}
