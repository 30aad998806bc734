import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type CidrList, parseCidrList } from "./net/cidr-list.ts";
import { isLoopbackHost } from "./net/loopback.ts";

/** Everything the operator can set. `process.env` is read here and nowhere else. */
export interface Config {
  host: string;
  port: number;
  dataDir: string;
  publicUrl: string;
  cdnUrl: string;
  databaseUrl: string | null;
  s3: S3Config | null;
  redisUrl: string | null;
  /** The first signs and encrypts, all verify and decrypt. Null: kept in the data directory. */
  secrets: string[] | null;
  tls: { cert: string; key: string } | null;
  trustedProxies: CidrList;
  webhookAllowCidrs: CidrList;
  webhookRetryBaseMs: number;
  storageAllowCidrs: CidrList;
  allowedOrigins: string[];
  metricsToken: string | null;
  logLevel: LogLevel;
  /** Names that begin like ours and mean nothing, most likely misspelt. */
  unknownVariables: string[];
}

export interface S3Config {
  bucket: string;
  endpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  forcePathStyle: boolean;
}

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** A value that the operator has to correct; its message is the one line they see. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type Env = Readonly<Record<string, string | undefined>>;

/** Names that clients read; listed so that a server started beside them does not call them unknown. */
const clientVariables = ["UPSTOW_URL", "UPSTOW_API_KEY"];

export function readConfig(env: Env): Config {
  const asked = new Set<string>(clientVariables);
  const read = <T>(name: string, fallback: T, parse: (value: string) => T): T => {
    asked.add(name);
    const value = env[name]?.trim();
    if (value === undefined || value === "") return fallback;
    try {
      return parse(value);
    } catch (error) {
      throw new ConfigError(`${name} ${(error as Error).message}`);
    }
  };
  const text = (name: string) => read<string | null>(name, null, (value) => value);
  const cidrs = (name: string) => read(name, parseCidrList(""), parseCidrList);

  const port = read("UPSTOW_PORT", 4000, wholeNumber(0, 65_535));
  const host = read("UPSTOW_HOST", "localhost", (value) => value);
  const tls = readTls(text("UPSTOW_TLS_CERT"), text("UPSTOW_TLS_KEY"));
  const publicUrl = read("UPSTOW_PUBLIC_URL", defaultPublicUrl(host, port, tls !== null), httpUrl);
  const config = {
    host,
    port,
    dataDir: resolve(read("UPSTOW_DATA_DIR", "data", (value) => value)),
    publicUrl,
    cdnUrl: read("UPSTOW_CDN_URL", publicUrl, httpUrl),
    databaseUrl: read("UPSTOW_DATABASE_URL", null, postgresUrl),
    s3: readS3(text, read),
    redisUrl: read("UPSTOW_REDIS_URL", null, redisUrl),
    secrets: read("UPSTOW_SECRET", null, secretList),
    tls,
    trustedProxies: cidrs("UPSTOW_TRUSTED_PROXIES"),
    webhookAllowCidrs: cidrs("UPSTOW_WEBHOOK_ALLOW_CIDRS"),
    webhookRetryBaseMs: read("UPSTOW_WEBHOOK_RETRY_BASE_MS", 12_000, wholeNumber(1, 3_600_000)),
    storageAllowCidrs: cidrs("UPSTOW_STORAGE_ALLOW_CIDRS"),
    allowedOrigins: read<string[]>("UPSTOW_ALLOWED_ORIGINS", [], originList),
    metricsToken: text("UPSTOW_METRICS_TOKEN"),
    logLevel: read<LogLevel>("UPSTOW_LOG_LEVEL", "info", logLevel),
  };
  const unknownVariables = Object.keys(env).filter((name) => name.startsWith("UPSTOW_") && !asked.has(name));
  return { ...config, unknownVariables };
}

function defaultPublicUrl(host: string, port: number, isTls: boolean): string {
  const isName = !["0.0.0.0", "::", "localhost"].includes(host);
  const shown = isName && (isTls || isLoopbackHost(host)) ? host : "localhost";
  return `${isTls ? "https" : "http"}://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}

function readTls(certPath: string | null, keyPath: string | null): Config["tls"] {
  if (certPath === null && keyPath === null) return null;
  if (certPath === null) throw new ConfigError("UPSTOW_TLS_CERT must be set when UPSTOW_TLS_KEY is");
  if (keyPath === null) throw new ConfigError("UPSTOW_TLS_KEY must be set when UPSTOW_TLS_CERT is");
  return { cert: readPem("UPSTOW_TLS_CERT", certPath), key: readPem("UPSTOW_TLS_KEY", keyPath) };
}

function readPem(name: string, path: string): string {
  if (!existsSync(path)) throw new ConfigError(`${name} names a file that does not exist: ${path}`);
  const pem = readFileSync(path, "utf8");
  if (!pem.includes("-----BEGIN ")) throw new ConfigError(`${name} must name a PEM file: ${path}`);
  return pem;
}

type ReadText = (name: string) => string | null;
type ReadValue = <T>(name: string, fallback: T, parse: (value: string) => T) => T;

function readS3(text: ReadText, read: ReadValue): S3Config | null {
  const bucket = text("UPSTOW_S3_BUCKET");
  const endpoint = read<string | null>("UPSTOW_S3_ENDPOINT", null, httpUrl);
  const region = read("UPSTOW_S3_REGION", "us-east-1", (value) => value);
  const accessKeyId = text("UPSTOW_S3_ACCESS_KEY_ID");
  const secretAccessKey = text("UPSTOW_S3_SECRET_ACCESS_KEY");
  const forcePathStyle = read("UPSTOW_S3_FORCE_PATH_STYLE", endpoint !== null, flag);
  if (bucket === null) {
    if (endpoint !== null || accessKeyId !== null) {
      throw new ConfigError("UPSTOW_S3_BUCKET must be set when other UPSTOW_S3_ variables are");
    }
    return null;
  }
  if (accessKeyId === null)
    throw new ConfigError("UPSTOW_S3_ACCESS_KEY_ID must be set when UPSTOW_S3_BUCKET is");
  if (secretAccessKey === null) {
    throw new ConfigError("UPSTOW_S3_SECRET_ACCESS_KEY must be set when UPSTOW_S3_BUCKET is");
  }
  return { bucket, endpoint, region, accessKeyId, secretAccessKey, forcePathStyle };
}

function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most) {
      throw new Error(`must be a whole number from ${least} to ${most}, not "${value}"`);
    }
    return number;
  };
}

function flag(value: string): boolean {
  if (["1", "true", "yes"].includes(value.toLowerCase())) return true;
  if (["0", "false", "no"].includes(value.toLowerCase())) return false;
  throw new Error(`must be true or false, not "${value}"`);
}

/** A bare origin with an optional path, without a trailing slash. */
function httpUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new Error(`must be an http or https address, not "${value}"`);
  }
  if (url.search !== "" || url.hash !== "" || url.username !== "") {
    throw new Error("must have no user name, query or fragment");
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

// The URLs below may hold a password, so their messages never repeat the value.
function postgresUrl(value: string): string {
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) {
    throw new Error("must be a postgres:// address, such as postgres://user:password@host:5432/upstow");
  }
  return value;
}

function redisUrl(value: string): string {
  if (!/^rediss?:\/\//.test(value) || !URL.canParse(value)) {
    throw new Error("must be a redis:// or rediss:// address");
  }
  return value;
}

function secretList(value: string): string[] {
  const secrets = value.split(",").map((secret) => secret.trim());
  if (secrets.some((secret) => secret.length < 32)) {
    throw new Error("must hold secrets of at least 32 characters each, separated by commas");
  }
  return secrets;
}

function originList(value: string): string[] {
  return value.split(",").map((entry) => {
    const origin = entry.trim();
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new Error(`must list origins such as https://app.example.com, not "${origin}"`);
    }
    return origin;
  });
}

function logLevel(value: string): LogLevel {
  const level = logLevels.find((known) => known === value);
  if (level === undefined) throw new Error(`must be one of ${logLevels.join(", ")}, not "${value}"`);
  return level;
}
