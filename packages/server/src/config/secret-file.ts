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

/** The installation's own secret, created on first start. Losing it voids every presigned URL and sealed value. */
export function readOrCreateSecret(dataDir: string): string {
  const path = join(dataDir, "secret");
  return readSecret(path) ?? createSecret(dataDir, path);
}

function readSecret(path: string): string | null {
  try {
    const secret = readFileSync(path, "utf8").trim();
    // An empty secret would work too, but then anyone could sign.
    if (secret.length >= leastSecretLength) return secret;
    throw new ConfigError(`${path} no longer contains the installation's secret; restore it from a backup`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Written to a temporary file and then linked, so that concurrent starts agree on one secret. */
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
  if (secret === null) throw new Error(`the secret at ${path} disappeared while it was being created`);
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
