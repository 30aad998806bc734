import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../config.ts";
import { leastSecretLength } from "./values.ts";

/** The installation's own secret, made at first start. Losing it voids every presigned URL and sealed value. */
export function readOrCreateSecret(dataDir: string): string {
  const path = join(dataDir, "secret");
  return readSecret(path) ?? createSecret(dataDir, path);
}

function readSecret(path: string): string | null {
  try {
    const secret = readFileSync(path, "utf8").trim();
    // An empty one would sign too, and anybody could do it.
    if (secret.length >= leastSecretLength) return secret;
    throw new ConfigError(`${path} has lost the installation's secret; bring it back from a backup`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Written whole under another name and then linked, so that two starters agree on one secret. */
function createSecret(dataDir: string, path: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  writeDurably(draft, `${randomBytes(48).toString("base64url")}\n`);
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const secret = readSecret(path);
  if (secret === null) throw new Error(`the secret at ${path} vanished while it was made`);
  return secret;
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
