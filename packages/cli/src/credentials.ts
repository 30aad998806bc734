import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { OperatorError } from "./command.ts";
import { configFolder } from "./config-folder.ts";

/** What `upstow login` saves. */
export interface Credentials {
  url: string;
  apiKey: string;
}

export const credentialsPath = (env: NodeJS.ProcessEnv) => join(configFolder(env), "credentials.json");

export function findCredentials(env: NodeJS.ProcessEnv): Credentials | null {
  const path = credentialsPath(env);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const { url, apiKey } = parse(text) ?? {};
  if (typeof url === "string" && typeof apiKey === "string") return { url, apiKey };
  throw new OperatorError("CONFIGURATION", `${path} is damaged. Run \`upstow login\` again.`);
}

/** Written to a temporary file first, so a reader never sees half a key; readable by this user only. */
export function saveCredentials(env: NodeJS.ProcessEnv, credentials: Credentials): void {
  const path = credentialsPath(env);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  writeFileSync(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(draft, path);
}

export function removeCredentials(env: NodeJS.ProcessEnv): void {
  rmSync(credentialsPath(env), { force: true });
}

function parse(text: string): Partial<Credentials> | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
