import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { NetConnectOpts } from "node:net";
import { CLAMD_MAX_BYTES } from "@upstow/contract";
import { isLoopbackHost } from "../kernel/net/listen-address.ts";
import { ConfigError, flag, httpUrl, type ReadValue, wholeNumber } from "./values.ts";

export interface S3Config {
  bucket: string;
  /** Null means Amazon's own endpoint for the region. */
  endpoint: string | null;
  /** The URL that clients use for the bucket, if it differs from the service's. */
  publicEndpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  forcePathStyle: boolean;
  /** Prefix of every object's name. Ends with a slash, or is empty. */
  prefix: string;
  delivery: S3Delivery;
}

/** Whether files are streamed through the service or clients are redirected to the bucket. */
export type S3Delivery = "stream" | "redirect";

/** A bucket or region becomes part of a host name. Any further rules are up to the provider. */
export function hostPart(value: string): string {
  if (/^[\w.-]{1,255}$/.test(value)) return value;
  throw new Error(`must be letters, digits and - _ . only, not "${value}"`);
}

/** Sent in a header. The message never includes the value. */
export function s3Credential(value: string): string {
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new Error("must be a key as shown by the provider: ASCII characters without spaces");
}

/** Whether the bucket's name can be prepended to the host, which is impossible for an IP address. */
export function takesHostStyle(endpoint: string | null): boolean {
  return endpoint === null || URL.canParse(`https://bucket.${new URL(endpoint).host}`);
}

export function s3Delivery(value: string): S3Delivery {
  if (value === "stream" || value === "redirect") return value;
  throw new Error(`must be stream or redirect, not "${value}"`);
}

// Amazon limits names to 1,024 bytes, of which the service uses 900 and a few more for its own folders.
export function s3Prefix(value: string): string {
  if (value === "/") return "";
  const prefix = value.endsWith("/") ? value : `${value}/`;
  if (!/^(?:[\w.-]+\/){1,10}$/.test(prefix) || prefix.length > 100 || /(^|\/)\.+\//.test(prefix)) {
    throw new Error(`must be up to 100 letters, digits and - _ . in folders such as upstow/, not "${value}"`);
  }
  return prefix;
}

/** A daemon of ClamAV. */
export interface ClamdConfig {
  address: Extract<NetConnectOpts, { path: string }> | { host: string; port: number };
  /** Larger files are not sent to it. */
  maxBytes: number;
}

const usualPort = 3310;
/** The most that it takes, however it is configured. */
const mostBytes = 2 ** 31 - 1;

export function readClamd(read: ReadValue): ClamdConfig | null {
  const address = read<ClamdConfig["address"] | null>("UPSTOW_CLAMD", null, clamdAddress);
  const maxBytes = read<number | null>("UPSTOW_CLAMD_MAX_BYTES", null, wholeNumber(1, mostBytes));
  if (address !== null) return { address, maxBytes: maxBytes ?? CLAMD_MAX_BYTES };
  if (maxBytes !== null) throw new ConfigError("UPSTOW_CLAMD must be set when UPSTOW_CLAMD_MAX_BYTES is");
  return null;
}

function clamdAddress(value: string): ClamdConfig["address"] {
  if (value.startsWith("/")) return { path: value };
  const url = URL.canParse(value) ? new URL(value) : null;
  const isBare = url !== null && [url.username, url.pathname, url.search, url.hash].join("") === "";
  if (url?.protocol !== "tcp:" || url.hostname === "" || !isBare)
    throw new Error(`must be tcp://host:port or the path of a socket, not "${value}"`);
  return { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(url.port || usualPort) };
}

export interface TracingConfig {
  /** The URL that spans are sent to. */
  url: string;
  /** The share of traces to keep, unless the caller has decided. */
  sampleRatio: number;
}

/** By OpenTelemetry's own variables, so that an environment made for it works. */
export function readTracing(read: ReadValue): TracingConfig | null {
  const endpoint = read<string | null>("OTEL_EXPORTER_OTLP_ENDPOINT", null, httpUrl);
  const tracesEndpoint = read<string | null>("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", null, httpUrl);
  const sampleRatio = read("OTEL_TRACES_SAMPLER_ARG", 1, ratio);
  const isDisabled = read("OTEL_SDK_DISABLED", false, flag);
  if (isDisabled || (endpoint === null && tracesEndpoint === null)) return null;
  return { url: tracesEndpoint ?? `${endpoint}/v1/traces`, sampleRatio };
}

function ratio(value: string): number {
  const number = Number(value);
  if (!(number >= 0 && number <= 1)) throw new Error(`must be a number from 0 to 1, not "${value}"`);
  return number;
}

export interface SendfileConfig {
  header: "X-Accel-Redirect" | "X-Sendfile";
  /** The object directory from the proxy's point of view, with a trailing slash. */
  prefix: string;
}

export type CdnPurgeConfig =
  | { driver: "cloudflare"; zoneId: string; token: string }
  | { driver: "fastly"; serviceId: string; token: string }
  | { driver: "http"; url: string };

export function sendfile(value: string): SendfileConfig {
  const [, name = "", prefix = ""] = /^([\w-]+):(\/(?:[\w.-]+\/)*)$/.exec(value) ?? [];
  const header = (["X-Accel-Redirect", "X-Sendfile"] as const).find(
    (known) => known.toLowerCase() === name.toLowerCase(),
  );
  if (header === undefined) {
    throw new Error(
      `must be like X-Accel-Redirect:/internal/objects/ or X-Sendfile:/srv/upstow/data/objects/, not "${value}"`,
    );
  }
  return { header, prefix };
}

/** The message never includes the value, which contains a token. */
export function cdnPurge(value: string): CdnPurgeConfig {
  const [, driver, id = "", token = ""] = /^(cloudflare|fastly):([\w-]+):([\x21-\x7e]+)$/.exec(value) ?? [];
  if (driver === "cloudflare") return { driver, zoneId: id, token };
  if (driver === "fastly") return { driver, serviceId: id, token };
  const url = URL.canParse(value) ? new URL(value) : null;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
  if (url === null || !isSafe || url.username !== "" || url.password !== "") {
    throw new Error(
      "must be cloudflare:<zone id>:<token>, fastly:<service id>:<token> or an https URL without a user name",
    );
  }
  return { driver: "http", url: url.href };
}

export interface TlsConfig {
  certPath: string;
  keyPath: string;
  /** PEM texts. */
  cert: string;
  key: string;
}

export function readTls(certPath: string | null, keyPath: string | null): TlsConfig | null {
  if (certPath === null && keyPath === null) return null;
  if (certPath === null) throw new ConfigError("UPSTOW_TLS_CERT must be set when UPSTOW_TLS_KEY is");
  if (keyPath === null) throw new ConfigError("UPSTOW_TLS_KEY must be set when UPSTOW_TLS_CERT is");
  return readTlsFiles(certPath, keyPath);
}

export function readTlsFiles(certPath: string, keyPath: string): TlsConfig {
  const cert = readPem("UPSTOW_TLS_CERT", certPath, (pem) => void new X509Certificate(pem));
  const key = readPem("UPSTOW_TLS_KEY", keyPath, (pem) => void createPrivateKey(pem));
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new ConfigError("UPSTOW_TLS_KEY does not match the certificate in UPSTOW_TLS_CERT");
  }
  return { certPath, keyPath, cert, key };
}

function readPem(name: string, path: string, check: (pem: string) => void): string {
  let pem: string;
  try {
    pem = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${name} is a file that cannot be read (${code}): ${path}`);
  }
  try {
    check(pem);
    return pem;
  } catch {
    throw new ConfigError(`${name} must be a PEM file with the expected contents: ${path}`);
  }
}
