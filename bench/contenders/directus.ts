import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { pickFreePort } from "../../test/support/free-port.ts";
import { startProgram, waitUntilServing } from "../harness/program.ts";
import { findDirectusProgram } from "./directus-package.ts";

export interface Directus {
  port: number;
  pid: number;
  key: string;
  stop(): Promise<void>;
}

/** Directus over an empty database, with its files on the disk; null where it cannot be had. */
export async function findDirectus(folder: string, databaseUrl: string): Promise<Directus | null> {
  const program = findDirectusProgram();
  if (program === null) return null;
  const dir = await mkdtemp(join(folder, "directus-"));
  const port = await pickFreePort();
  const key = randomBytes(16).toString("hex");
  const env = {
    NODE_ENV: "production",
    HOST: "127.0.0.1",
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DB_CLIENT: "pg",
    DB_CONNECTION_STRING: databaseUrl,
    SECRET: randomBytes(32).toString("hex"),
    ADMIN_EMAIL: "owner@example.com",
    ADMIN_PASSWORD: randomBytes(16).toString("hex"),
    ADMIN_TOKEN: key,
    STORAGE_LOCATIONS: "local",
    STORAGE_LOCAL_DRIVER: "local",
    STORAGE_LOCAL_ROOT: dir,
    EXTENSIONS_PATH: dir,
    LOG_LEVEL: "warn",
    TELEMETRY: "false",
    // It would refuse requests of a benchmark when it has much to do.
    PRESSURE_LIMITER_ENABLED: "false",
  };
  await promisify(execFile)(process.execPath, [program, "bootstrap"], { env: { ...process.env, ...env } });
  const server = startProgram({
    command: process.execPath,
    args: [program, "start"],
    env,
    outputFile: `${dir}.log`,
  });
  await waitUntilServing(server, `http://127.0.0.1:${port}/server/ping`);
  return { port, pid: server.pid, key, stop: server.stop };
}

/** Uploads random bytes, and returns the path at which they are served. */
export async function storeInDirectus({ port, key }: Directus, sizeBytes: number): Promise<string> {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(randomBytes(sizeBytes))]), "bench.bin");
  const response = await fetch(`http://127.0.0.1:${port}/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  if (!response.ok) throw new Error(`directus: ${response.status} ${await response.text()}`);
  const { data } = (await response.json()) as { data: { id: string } };
  return `/assets/${data.id}?access_token=${key}`;
}
