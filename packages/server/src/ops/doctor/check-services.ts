import { TIERS, type Tier } from "@upstow/contract";
import type { ClamdConfig } from "../../config/services.ts";
import type { Config } from "../../config.ts";
import { type Clamd, createClamd } from "../../files/scanning/clamd.ts";
import { type Check, createChecks } from "./check.ts";

const redis = createChecks("Redis");

/** The service continues without it, more slowly, and logs that only once. */
export async function checkRedis(tryRedis: () => Promise<void>): Promise<Check> {
  try {
    await tryRedis();
    return redis.ok("responds, and counts rate limits");
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return redis.warning(
      `It cannot be used: ${message || code}. Rate limits are counted in the database meanwhile.`,
      "Check UPSTOW_REDIS_URL, its password, and that Redis is running and accepts connections from this machine.",
    );
  }
}

const scanner = createChecks("virus scanner");
const dayMs = 86_400_000;
/** ClamAV publishes new ones every day. */
const oldSignaturesMs = 3 * dayMs;
const patienceMs = 120_000;
const chunkBytes = 64 * 1024;

/** Every scanner reports this as a virus. Split in two, so that none reports this file. */
const testVirus = Buffer.from(
  ["X5O!P%@AP[4\\PZX54(P^)7CC)7}$", "EICAR", "-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"].join(""),
);

/** Whether it responds, detects viruses, and accepts files up to the size we send. */
export async function checkScanner(config: ClamdConfig | null, now: number): Promise<Check[]> {
  if (config === null) return [];
  const clamd = createClamd(config);
  try {
    const version = await clamd.findVersion();
    const checks = [checkSignatures(version, now)];
    if ((await scan(clamd, testVirus.length)) !== "infected") {
      const fix = "Download signatures with freshclam, and restart clamd.";
      return [...checks, scanner.failed("It does not recognize the test virus EICAR.", fix)];
    }
    return [...checks, await checkSize(clamd, config.maxBytes), ...checkTiers(config.maxBytes)];
  } catch (error) {
    return [
      scanner.failed(
        `It cannot be used: ${(error as Error).message}. Files of routes with scanning wait for it and can't be read.`,
        "Check UPSTOW_CLAMD, and that clamd is running and accepts connections from this user or machine.",
      ),
    ];
  }
}

/** Such as "ClamAV 1.4.3/27694/Thu Jul 10 08:35:21 2025". */
function checkSignatures(version: string, now: number): Check {
  const [program = "", number, date = ""] = version.split("/");
  const madeAt = Date.parse(`${date} UTC`);
  if (number === undefined || Number.isNaN(madeAt))
    return scanner.warning(`${program} has no ClamAV signatures.`, "Download them with freshclam.");
  const days = Math.floor((now - madeAt) / dayMs);
  if (now - madeAt > oldSignaturesMs)
    return scanner.warning(
      `${program} has signatures that are ${days} days old.`,
      "Check that freshclam is running.",
    );
  return scanner.ok(`${program} with signatures ${number} of ${new Date(madeAt).toISOString().slice(0, 10)}`);
}

/** The virus is at the start, because a file too large to be scanned is also reported as clean. */
async function checkSize(clamd: Clamd, maxBytes: number): Promise<Check> {
  const verdict = await scan(clamd, maxBytes);
  if (verdict === "infected") return scanner.ok(`scans files up to ${maxBytes} bytes`);
  const limits = "StreamMaxLength, MaxFileSize and MaxScanSize";
  const fix = `Raise ${limits} in clamd.conf, or lower UPSTOW_CLAMD_MAX_BYTES.`;
  if (verdict === "unscanned")
    return scanner.warning(
      `It rejects files of ${maxBytes} bytes; files over its limits stay unscanned.`,
      fix,
    );
  return scanner.failed(
    `It reports a virus of ${maxBytes} bytes as clean, so large files pass without a scan.`,
    fix,
  );
}

function checkTiers(maxBytes: number): Check[] {
  const larger = Object.entries(TIERS).filter(([, tier]: [string, Tier]) => tier.maxFileSizeBytes > maxBytes);
  if (larger.length === 0) return [];
  const names = larger.map(([name]) => name).join(", ");
  return [scanner.ok(`files over ${maxBytes} bytes, which these tiers allow, stay unscanned: ${names}`)];
}

async function scan(clamd: Clamd, sizeBytes: number): Promise<string> {
  const file = { sizeBytes, chunks: withVirus(sizeBytes) };
  return (await clamd.scan(file, AbortSignal.timeout(patienceMs))).verdict;
}

function* withVirus(sizeBytes: number): Generator<Buffer> {
  yield testVirus;
  const filler = Buffer.alloc(chunkBytes);
  for (let left = sizeBytes - testVirus.length; left > 0; left -= chunkBytes)
    yield filler.subarray(0, Math.min(left, chunkBytes));
}

const metrics = createChecks("metrics");
const metricsWithinMs = 5_000;

/** Requests the metrics like a scraper would. Only if they have a separate listener. */
export async function checkMetrics({ metricsAddress, metricsToken }: Config): Promise<Check[]> {
  if (metricsAddress === null) return [];
  const { host, port } = metricsAddress;
  const name = { "0.0.0.0": "127.0.0.1", "::": "[::1]" }[host] ?? (host.includes(":") ? `[${host}]` : host);
  const url = `http://${name}:${port}/metrics`;
  const headers: Record<string, string> =
    metricsToken === null ? {} : { authorization: `Bearer ${metricsToken}` };
  try {
    const { status } = await fetch(url, { headers, signal: AbortSignal.timeout(metricsWithinMs) });
    if (status === 200) return [metrics.ok(`served at ${url}`)];
    return [
      metrics.warning(
        `${url} responds with ${status}.`,
        "Check UPSTOW_METRICS_ADDRESS and UPSTOW_METRICS_TOKEN.",
      ),
    ];
  } catch {
    return [metrics.warning(`No response from ${url}.`, "Start the service if it should run.")];
  }
}
