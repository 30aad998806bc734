import { TIERS, type Tier } from "@upstow/contract";
import type { ClamdConfig } from "../../config/clamd.ts";
import { type Clamd, createClamd } from "../../files/scanning/clamd.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning, failed } = createChecks("virus scanner");
const dayMs = 86_400_000;
/** ClamAV publishes new ones every day. */
const oldSignaturesMs = 3 * dayMs;
const patienceMs = 120_000;
const chunkBytes = 64 * 1024;

/** What every scanner takes for a virus, in two pieces so that none takes this file for one. */
const testVirus = Buffer.from(
  ["X5O!P%@AP[4\\PZX54(P^)7CC)7}$", "EICAR", "-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"].join(""),
);

/** Whether it answers, knows viruses, and takes files as large as are sent to it. */
export async function checkScanner(config: ClamdConfig | null, now: number): Promise<Check[]> {
  if (config === null) return [];
  const clamd = createClamd(config);
  try {
    const version = await clamd.findVersion();
    const checks = [checkSignatures(version, now)];
    if ((await scan(clamd, testVirus.length)) !== "infected") {
      const fix = "Let freshclam fetch signatures, and restart clamd.";
      return [...checks, failed("It does not recognize the test virus EICAR.", fix)];
    }
    return [...checks, await checkSize(clamd, config.maxBytes), ...checkTiers(config.maxBytes)];
  } catch (error) {
    return [
      failed(
        `It cannot be used: ${(error as Error).message}. Files of routes that scan wait for it, and nobody can read them.`,
        "Check UPSTOW_CLAMD, and that clamd runs and lets this user or machine in.",
      ),
    ];
  }
}

/** Such as "ClamAV 1.4.3/27694/Thu Jul 10 08:35:21 2025". */
function checkSignatures(version: string, now: number): Check {
  const [program = "", number, date = ""] = version.split("/");
  const madeAt = Date.parse(`${date} UTC`);
  if (number === undefined || Number.isNaN(madeAt))
    return warning(`${program} answers without signatures of ClamAV.`, "Let freshclam fetch them.");
  const days = Math.floor((now - madeAt) / dayMs);
  if (now - madeAt > oldSignaturesMs)
    return warning(`${program} has signatures that are ${days} days old.`, "Check that freshclam runs.");
  return ok(`${program} with signatures ${number} of ${new Date(madeAt).toISOString().slice(0, 10)}`);
}

/** With the virus in front, because it also says that a file is clean if it is too large to be looked at. */
async function checkSize(clamd: Clamd, maxBytes: number): Promise<Check> {
  const verdict = await scan(clamd, maxBytes);
  if (verdict === "infected") return ok(`scans files up to ${maxBytes} bytes`);
  const limits = "StreamMaxLength, MaxFileSize and MaxScanSize";
  const fix = `Raise ${limits} in clamd.conf, or lower UPSTOW_CLAMD_MAX_BYTES.`;
  if (verdict === "unscanned")
    return warning(`It does not take files of ${maxBytes} bytes: those over its limits stay unscanned.`, fix);
  return failed(`It calls a virus of ${maxBytes} bytes clean, so large files pass without a scan.`, fix);
}

function checkTiers(maxBytes: number): Check[] {
  const larger = Object.entries(TIERS).filter(([, tier]: [string, Tier]) => tier.maxFileSizeBytes > maxBytes);
  if (larger.length === 0) return [];
  const names = larger.map(([name]) => name).join(", ");
  return [ok(`files over ${maxBytes} bytes, which these tiers allow, stay unscanned: ${names}`)];
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
