import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, join, resolve } from "node:path";
import { RATE_LIMITS, type RateLimits, type RateWindowName } from "@upstow/contract";
import { isPrivateAddress } from "../kernel/net/cidr-list.ts";
import { addressOf, type ListenAddress } from "../kernel/net/listen-address.ts";

/** Reads one variable; the fallback if it is not set. */
export type ReadValue = <T>(name: string, fallback: T, parse: (value: string) => T) => T;

// Parsers of variables. Messages continue a sentence that starts with the variable's name.

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most) {
      throw new Error(`must be a whole number from ${least} to ${most}, not "${value}"`);
    }
    return number;
  };
}

export function hostName(value: string): string {
  if (isIP(value) === 0 && !/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(value)) {
    throw new Error(`must be an IP address or a host name, not "${value}"`);
  }
  return value;
}

/** A `host:port` that is not publicly reachable, because it serves plain HTTP. */
export function privateListener(value: string): ListenAddress {
  const [, bracketed, plain = bracketed ?? "", digits = ""] =
    /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(value) ?? [];
  const port = Number(digits);
  if (port < 1 || port > 65_535) {
    throw new Error(`must be a host and a port, such as 127.0.0.1:9464 or [::1]:9464, not "${value}"`);
  }
  const host = hostName(plain);
  // Every address of this machine: callers are then checked one by one.
  const isAny = host === "0.0.0.0" || host === "::";
  if (!isAny && host !== "localhost" && !isPrivateAddress(host)) {
    throw new Error(`must be a private or loopback address, or 0.0.0.0 or [::] for all, not "${host}"`);
  }
  return addressOf({ host, port });
}

/** Need not exist yet, but it must be possible to create it. */
export function directory(value: string): string {
  const wanted = resolve(value);
  let nearest = wanted;
  while (!existsSync(nearest)) nearest = dirname(nearest);
  if (!statSync(nearest).isDirectory()) throw new Error(`must be a directory, and ${nearest} is a file`);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
    // The only reliable check is to try: no one can create one in /proc, where Node itself would retry forever.
    if (nearest !== wanted) rmdirSync(mkdtempSync(join(nearest, ".upstow-")));
  } catch {
    throw new Error(`must be a directory that this user may write to, unlike ${nearest}`);
  }
  return wanted;
}

export function flag(value: string): boolean {
  if (["1", "true", "yes"].includes(value.toLowerCase())) return true;
  if (["0", "false", "no"].includes(value.toLowerCase())) return false;
  throw new Error(`must be true or false, not "${value}"`);
}

export function onOrOff(value: string): boolean {
  const word = value.toLowerCase();
  if (word !== "on" && word !== "off") throw new Error(`must be on or off, not "${value}"`);
  return word === "on";
}

/** A bare origin with an optional path, without a trailing slash. */
export function httpUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new Error(`must be an http or https URL, not "${value}"`);
  }
  if (url.search !== "" || url.hash !== "" || url.username !== "") {
    throw new Error("must have no user name, query or fragment");
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

// The URLs below may contain a password, so their messages never include the value.
export function postgresUrl(value: string): string {
  if (!/^postgres(ql)?:\/\//.test(value) || !isReadable(value)) {
    throw new Error("must be a postgres:// URL, such as postgres://user:password@host:5432/upstow");
  }
  return value;
}

export function redisUrl(value: string): string {
  if (!/^rediss?:\/\//.test(value) || !isReadable(value) || !/^(\/\d*)?$/.test(new URL(value).pathname)) {
    throw new Error("must be a redis:// or rediss:// URL, such as redis://user:password@host:6379/0");
  }
  return value;
}

/** Otherwise only the driver would notice an unencoded percent sign in a password. */
function isReadable(address: string): boolean {
  try {
    const { username, password, pathname } = new URL(address);
    decodeURIComponent(username + password + pathname);
    return true;
  } catch {
    return false;
  }
}

export const leastSecretLength = 32;

export function secretList(value: string): string[] {
  const secrets = value.split(",").map((secret) => secret.trim());
  if (secrets.some((secret) => secret.length < leastSecretLength)) {
    throw new Error(
      `must contain secrets of at least ${leastSecretLength} characters each, separated by commas`,
    );
  }
  return secrets;
}

export function originList(value: string): string[] {
  return value.split(",").map((entry) => {
    const origin = entry.trim();
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new Error(`must list origins such as https://app.example.com, not "${origin}"`);
    }
    return origin;
  });
}

export function logLevel(value: string): LogLevel {
  const level = logLevels.find((known) => known === value);
  if (level === undefined) throw new Error(`must be one of ${logLevels.join(", ")}, not "${value}"`);
  return level;
}

const mostRequests = 1_000_000_000;

/** `off`, or a number for any of the windows; the others keep their default. */
export function rateLimits(value: string): RateLimits {
  if (value === "off") return { upload: null, transform: null, other: null };
  const limits: Record<RateWindowName, number> = { ...RATE_LIMITS };
  const named = new Set<string>();
  for (const entry of value.split(",")) {
    const [, name = "", digits = ""] = /^\s*(upload|transform|other)\s*=\s*(\d+)\s*$/.exec(entry) ?? [];
    const number = Number(digits);
    if (name === "" || named.has(name) || number < 1 || number > mostRequests) {
      throw new Error(
        `must be off, or any of upload, transform and other once, such as upload=30,transform=120,other=10 with numbers from 1 to ${mostRequests}, not "${value}"`,
      );
    }
    named.add(name);
    limits[name as RateWindowName] = number;
  }
  return limits;
}

export type FirstStartKeys = "print" | "file";

export function firstStartKeys(value: string): FirstStartKeys {
  if (value === "print" || value === "file") return value;
  throw new Error(`must be print or file, not "${value}"`);
}

/** Who may upload on the welcome page. */
export type WelcomeUploads = "local" | "on" | "off";

export function welcomeUploads(value: string): WelcomeUploads {
  if (value === "local" || value === "on" || value === "off") return value;
  throw new Error(`must be local, on or off, not "${value}"`);
}

/** A value the operator has to correct; the message is the one line they see. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
