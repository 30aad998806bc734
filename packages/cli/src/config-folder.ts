import { homedir } from "node:os";
import { join } from "node:path";

/** The user's configuration folder. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const home = env["HOME"] ?? homedir();
  const base =
    env["XDG_CONFIG_HOME"] || (process.platform === "win32" && env["APPDATA"]) || join(home, ".config");
  return join(base, "upstow");
}
