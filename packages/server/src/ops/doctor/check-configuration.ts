import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import type { Database } from "../../db/database.ts";
import { databaseNow, statement } from "../../db/statement.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import { findInstallation } from "../../projects/accounts/queries.ts";
import { type Check, createChecks } from "./check.ts";

const variables = createChecks("configuration");

/** Invalid values already abort reading the configuration; what remains here are unknown variables. */
export function checkConfiguration(config: Config): Check[] {
  const database = config.databaseUrl === null ? "embedded database" : "PostgreSQL";
  const storage = config.s3 === null ? "objects on disk" : `objects in the bucket ${config.s3.bucket}`;
  return [
    variables.ok(`${database}, ${storage}, data in ${config.dataDir}`),
    ...config.unknownVariables.map((name) =>
      variables.warning(`${name} is set but unknown.`, "Check its spelling, or remove it."),
    ),
  ];
}

const secret = createChecks("secret");

/** Without its secret, an installation can neither decrypt sealed values nor verify URLs it signed. */
export async function checkSecret(db: Database, config: Config, keyring: Keyring | null): Promise<Check[]> {
  const installation = await db.get(findInstallation, {});
  const path = join(config.dataDir, "secret");
  const isFile = config.secrets === null;
  if (keyring === null) {
    if (installation === null) return [];
    return [
      secret.failed(`${path} is missing.`, "Restore it from a backup, or set UPSTOW_SECRET to its contents."),
    ];
  }
  if (installation !== null && !keyring.checks.includes(installation.secret_check)) {
    return [
      secret.failed(
        "It is not the secret that this installation was created with.",
        isFile ? `Restore ${path} from a backup.` : "Add the former secret to UPSTOW_SECRET, after a comma.",
      ),
    ];
  }
  if (!isFile) return [secret.ok(`UPSTOW_SECRET contains ${keyring.checks.length} valid secrets`)];
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) {
    return [secret.warning(`${path} can be read by other users of this machine.`, `chmod 600 ${path}`)];
  }
  return [secret.ok(`${path} is valid and private; keep a copy of it`)];
}

const proxies = createChecks("trusted proxies");

/** Addresses far apart on the internet: a list that contains all of them trusts everyone. */
const strangers = ["8.8.8.8", "93.184.216.34", "203.0.113.77", "2001:4860:4860::8888"];
const usualProxies = ["127.0.0.1", "::1", "10.0.0.1", "172.16.0.1", "172.17.0.1", "192.168.0.1", "fd00::1"];

export function checkProxies({ trustedProxies, publicUrl, tls }: Config): Check[] {
  if (strangers.some((address) => trustedProxies.contains(address))) {
    return [
      proxies.failed(
        "UPSTOW_TRUSTED_PROXIES includes public addresses, so anyone there can forge client addresses.",
        "List only the addresses of your own proxies.",
      ),
    ];
  }
  const needsProxy = publicUrl.startsWith("https:") && tls === null;
  if (needsProxy && !usualProxies.some((address) => trustedProxies.contains(address))) {
    return [
      proxies.warning(
        "UPSTOW_PUBLIC_URL is https and this process has no certificate, so it needs a proxy in front.",
        "Make sure that UPSTOW_TRUSTED_PROXIES lists its address; otherwise its requests are rejected.",
      ),
    ];
  }
  return [];
}

const clock = createChecks("clock");

const readClock = statement((q, _: object, dialect) => q.selectNoFrom(databaseNow(dialect).as("now")));
const findNewestLog = statement((q, _: object) =>
  q.selectFrom("log").select("created_at").orderBy("id", "desc").limit(1),
);

const noticeableMs = 2_000;
const harmfulMs = 60_000;
/** This program did not exist before then. */
const earliest = Date.UTC(2025, 0, 1);
const syncClock = "Synchronize the machine's clock with NTP (timedatectl set-ntp true).";

export async function checkClock(db: Database, now: number): Promise<Check[]> {
  const shown = new Date(now).toISOString();
  if (now < earliest) return [clock.failed(`This machine's clock shows ${shown}.`, syncClock)];
  const newest = await db.get(findNewestLog, {});
  if (newest !== null && newest.created_at > now + harmfulMs) {
    const later = new Date(newest.created_at).toISOString();
    return [
      clock.failed(`This machine's clock shows ${shown}, but there are records from ${later}.`, syncClock),
    ];
  }
  const startedAt = performance.now();
  const database = await db.get(readClock, {});
  const tookMs = performance.now() - startedAt;
  const skewMs = (database?.now ?? now) - (now + tookMs);
  // Half the round trip cannot be distinguished from clock skew.
  const certainMs = Math.max(0, Math.abs(skewMs) - tookMs);
  const message = `The database's clock and this machine's are ${(Math.abs(skewMs) / 1000).toFixed(1)} s apart.`;
  if (certainMs > harmfulMs) return [clock.failed(message, syncClock)];
  return [
    certainMs > noticeableMs
      ? clock.warning(message, syncClock)
      : clock.ok(`${shown}, same as the database's`),
  ];
}
