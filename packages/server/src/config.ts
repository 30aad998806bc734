import { resolve } from "node:path";
import {
  AUDIT_RETENTION_DAYS,
  CONNECTIONS_PER_ADDRESS,
  LOG_RETENTION_DAYS,
  RATE_LIMITS,
  type RateLimits,
} from "@upstow/contract";
import {
  type CdnPurgeConfig,
  type ClamdConfig,
  cdnPurge,
  hostPart,
  readClamd,
  readTls,
  readTracing,
  type S3Config,
  type S3Delivery,
  type SendfileConfig,
  s3Credential,
  s3Delivery,
  s3Prefix,
  sendfile,
  type TlsConfig,
  type TracingConfig,
  takesHostStyle,
} from "./config/services.ts";
import {
  ConfigError,
  directory,
  type FirstStartKeys,
  firstStartKeys,
  flag,
  hostName,
  httpUrl,
  type LogLevel,
  logLevel,
  onOrOff,
  originList,
  postgresUrl,
  privateListener,
  type ReadValue,
  rateLimits,
  redisUrl,
  secretList,
  type WelcomeUploads,
  welcomeUploads,
  wholeNumber,
} from "./config/values.ts";
import type { ConnectionLimit } from "./http/connections.ts";
import { type CidrList, parseCidrList, parsePrivateCidrList } from "./kernel/net/cidr-list.ts";
import { isLoopbackHost, type ListenAddress } from "./kernel/net/listen-address.ts";

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
  /** The first signs and encrypts, all verify and decrypt. Null means it is stored in the data directory. */
  secrets: string[] | null;
  tls: TlsConfig | null;
  trustedProxies: CidrList;
  connectionLimit: ConnectionLimit;
  /** Private networks that may use plain HTTP. Null means none. */
  httpFrom: CidrList | null;
  /** Whether HTTPS responses include Strict-Transport-Security. */
  hsts: boolean;
  /** Lets trusted proxies send files of the embedded store on our behalf. */
  sendfile: SendfileConfig | null;
  /** How to tell a CDN that a file was deleted. Null means shared caches may not store files. */
  cdnPurge: CdnPurgeConfig | null;
  webhookAllowCidrs: CidrList;
  webhookRetryBaseMs: number;
  storageAllowCidrs: CidrList;
  importAllowCidrs: CidrList;
  /** The virus scanner. Null if there is none. */
  clamd: ClamdConfig | null;
  allowedOrigins: string[];
  metricsToken: string | null;
  /** Where metrics are served over plain HTTP, besides `/metrics` of the service itself. */
  metricsAddress: ListenAddress | null;
  tracing: TracingConfig | null;
  /** Requests per minute and key, unless the account has its own limits. Null means no limit. */
  rateLimits: RateLimits;
  logLevel: LogLevel;
  /** Where the keys of the first start are written. */
  firstStartKeys: FirstStartKeys;
  welcomeUploads: WelcomeUploads;
  logRetentionDays: number;
  auditRetentionDays: number;
  /** Unknown names with our prefix, most likely misspelt. */
  unknownVariables: string[];
}

export { ConfigError };

type Env = Readonly<Record<string, string | undefined>>;

/** Names that clients read, listed so that a server in the same environment does not report them as unknown. */
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
      const reason = (error as Error).message.replaceAll(/\s*\n\s*/g, " ");
      throw new ConfigError(`${name} ${reason}`);
    }
  };
  const text = (name: string) => read<string | null>(name, null, (value) => value);
  const cidrs = (name: string) => read(name, parseCidrList(""), parseCidrList);

  const port = read("UPSTOW_PORT", 4000, wholeNumber(0, 65_535));
  const host = read("UPSTOW_HOST", "localhost", hostName);
  const tls = readTls(text("UPSTOW_TLS_CERT"), text("UPSTOW_TLS_KEY"));
  const publicUrl = read("UPSTOW_PUBLIC_URL", defaultPublicUrl(host, port, tls !== null), httpUrl);
  const config = {
    host,
    port,
    dataDir: read("UPSTOW_DATA_DIR", resolve("data"), directory),
    publicUrl,
    cdnUrl: read("UPSTOW_CDN_URL", publicUrl, httpUrl),
    databaseUrl: read("UPSTOW_DATABASE_URL", null, postgresUrl),
    s3: readS3(read),
    redisUrl: read("UPSTOW_REDIS_URL", null, redisUrl),
    secrets: read("UPSTOW_SECRET", null, secretList),
    tls,
    trustedProxies: cidrs("UPSTOW_TRUSTED_PROXIES"),
    connectionLimit: read<ConnectionLimit>(
      "UPSTOW_CONNECTIONS_PER_ADDRESS",
      { perAddress: CONNECTIONS_PER_ADDRESS, countsLoopback: false },
      // An operator who sets it means everyone.
      (value) => ({ perAddress: wholeNumber(0, 1_000_000)(value), countsLoopback: true }),
    ),
    httpFrom: read<CidrList | null>("UPSTOW_HTTP_FROM", null, parsePrivateCidrList),
    hsts: read("UPSTOW_HSTS", true, onOrOff),
    sendfile: read("UPSTOW_SENDFILE", null, sendfile),
    cdnPurge: read("UPSTOW_CDN_PURGE", null, cdnPurge),
    webhookAllowCidrs: cidrs("UPSTOW_WEBHOOK_ALLOW_CIDRS"),
    webhookRetryBaseMs: read("UPSTOW_WEBHOOK_RETRY_BASE_MS", 12_000, wholeNumber(1, 3_600_000)),
    storageAllowCidrs: cidrs("UPSTOW_STORAGE_ALLOW_CIDRS"),
    importAllowCidrs: cidrs("UPSTOW_IMPORT_ALLOW_CIDRS"),
    clamd: readClamd(read),
    allowedOrigins: read<string[]>("UPSTOW_ALLOWED_ORIGINS", [], originList),
    metricsToken: text("UPSTOW_METRICS_TOKEN"),
    metricsAddress: read("UPSTOW_METRICS_ADDRESS", null, privateListener),
    tracing: readTracing(read),
    rateLimits: read<RateLimits>("UPSTOW_RATE_LIMITS", RATE_LIMITS, rateLimits),
    logLevel: read<LogLevel>("UPSTOW_LOG_LEVEL", "info", logLevel),
    firstStartKeys: read<FirstStartKeys>("UPSTOW_FIRST_START_KEYS", "print", firstStartKeys),
    welcomeUploads: read<WelcomeUploads>("UPSTOW_WELCOME_UPLOADS", "local", welcomeUploads),
    logRetentionDays: read("UPSTOW_LOG_RETENTION_DAYS", LOG_RETENTION_DAYS, wholeNumber(1, 36_500)),
    auditRetentionDays: read("UPSTOW_AUDIT_RETENTION_DAYS", AUDIT_RETENTION_DAYS, wholeNumber(1, 36_500)),
  };
  const unknownVariables = Object.keys(env).filter((name) => name.startsWith("UPSTOW_") && !asked.has(name));
  return { ...config, unknownVariables };
}

function defaultPublicUrl(host: string, port: number, isTls: boolean): string {
  const isName = !["0.0.0.0", "::", "localhost"].includes(host);
  const shown = isName && (isTls || isLoopbackHost(host)) ? host : "localhost";
  return `${isTls ? "https" : "http"}://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}

function readS3(read: ReadValue): S3Config | null {
  const bucket = read<string | null>("UPSTOW_S3_BUCKET", null, hostPart);
  const endpoint = read<string | null>("UPSTOW_S3_ENDPOINT", null, httpUrl);
  const publicEndpoint = read<string | null>("UPSTOW_S3_PUBLIC_ENDPOINT", null, httpUrl);
  const region = read("UPSTOW_S3_REGION", "us-east-1", hostPart);
  const accessKeyId = read<string | null>("UPSTOW_S3_ACCESS_KEY_ID", null, s3Credential);
  const secretAccessKey = read<string | null>("UPSTOW_S3_SECRET_ACCESS_KEY", null, s3Credential);
  const forcePathStyle = read("UPSTOW_S3_FORCE_PATH_STYLE", endpoint !== null, flag);
  const prefix = read("UPSTOW_S3_PREFIX", "upstow/", s3Prefix);
  const delivery = read<S3Delivery>("UPSTOW_S3_DELIVERY", "stream", s3Delivery);
  if (bucket === null) {
    if (endpoint !== null || accessKeyId !== null || secretAccessKey !== null) {
      throw new ConfigError("UPSTOW_S3_BUCKET must be set when other UPSTOW_S3_ variables are");
    }
    return null;
  }
  if (accessKeyId === null)
    throw new ConfigError("UPSTOW_S3_ACCESS_KEY_ID must be set when UPSTOW_S3_BUCKET is");
  if (secretAccessKey === null) {
    throw new ConfigError("UPSTOW_S3_SECRET_ACCESS_KEY must be set when UPSTOW_S3_BUCKET is");
  }
  if (!forcePathStyle && !(takesHostStyle(endpoint) && takesHostStyle(publicEndpoint))) {
    throw new ConfigError(
      "UPSTOW_S3_FORCE_PATH_STYLE must be true: a bucket's name cannot be prepended to the endpoint's IP address",
    );
  }
  const place = { bucket, endpoint, publicEndpoint, region, forcePathStyle, prefix };
  return { ...place, accessKeyId, secretAccessKey, delivery };
}
