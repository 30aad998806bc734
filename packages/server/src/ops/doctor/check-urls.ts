import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Config } from "../../config.ts";
import { isLoopbackHost } from "../../kernel/net/listen-address.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import { checkPath, proofOf } from "../../projects/cdn-domain/cdn-domain.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning, failed } = createChecks("public URL");
const cdn = createChecks("CDN URL");

/** Whether clients reach this installation at the URLs it returns. */
export async function checkUrls(config: Config, keyring: Keyring | null): Promise<Check[]> {
  const { publicUrl, cdnUrl } = config;
  const url = new URL(publicUrl);
  const isPlainAccepted = config.tls === null && (isLoopbackHost(url.hostname) || config.httpFrom !== null);
  if (url.protocol === "http:" && !isPlainAccepted) {
    return [
      failed(
        `${publicUrl} is plain http, which is rejected ${config.tls === null ? "everywhere but on the machine itself" : "where the process has a certificate"}.`,
        "Set UPSTOW_PUBLIC_URL to an https URL, with UPSTOW_TLS_CERT or a proxy in front.",
      ),
    ];
  }
  const checks = [await checkService(config, keyring), ...checkSeparation(config)];
  return cdnUrl === publicUrl || checks[0]?.status !== "ok" ? checks : [...checks, await checkCdn(cdnUrl)];
}

/** Browsers isolate sites, not paths: on another domain, a file can never act as a page of the dashboard. */
function checkSeparation({ publicUrl, cdnUrl }: Config): Check[] {
  const [dashboard, files] = [new URL(publicUrl), new URL(cdnUrl)];
  if (dashboard.hostname !== files.hostname || isLoopbackHost(dashboard.hostname)) return [];
  return [
    cdn.warning(
      `Uploaded files are served from the dashboard's host, ${files.hostname}.`,
      "Set UPSTOW_CDN_URL to another registrable domain that also points to this service.",
    ),
  ];
}

async function checkService({ publicUrl, dataDir }: Config, keyring: Keyring | null): Promise<Check> {
  const health = await probe(`${publicUrl}/healthz`);
  if (!health.isAnswered) {
    const fix =
      "Start the service if it should run; otherwise check UPSTOW_PUBLIC_URL, DNS and the certificate.";
    return warning(`No response from ${publicUrl} (${health.reason}).`, fix);
  }
  if (health.status !== 200 || health.body["status"] !== "ok") {
    return failed(`Another program responds at ${publicUrl}.`, "Correct UPSTOW_PUBLIC_URL or its proxy.");
  }
  const ready = await probe(`${publicUrl}/readyz`);
  if (!ready.isAnswered || ready.status !== 200) {
    return failed(
      `The service at ${publicUrl} is running but not ready.`,
      "Check its log: the database does not respond.",
    );
  }
  const { dependencies = {} } = ready.body as { dependencies?: Record<string, string> };
  const missing = Object.keys(dependencies).filter((name) => dependencies[name] !== "ok");
  if (missing.length > 0) {
    return failed(
      `The service at ${publicUrl} is running without ${missing.join(" and ")}.`,
      "Check its log for the reason.",
    );
  }
  const api = await probe(`${publicUrl}/api/v1/projects`);
  if (api.isAnswered && api.status === 403) {
    return failed(
      `The service rejects requests through ${publicUrl} as plain HTTP.`,
      "List the proxy's address in UPSTOW_TRUSTED_PROXIES and make it send X-Forwarded-Proto.",
    );
  }
  if (keyring === null || !(await hasOurSecret(publicUrl, keyring))) {
    const here = keyring === null ? `and ${dataDir} contains none` : `not the one in ${dataDir}`;
    return failed(
      `Another installation responds at ${publicUrl}, ${here}.`,
      "To check that one, set UPSTOW_DATA_DIR and UPSTOW_SECRET to its values. To run another one next to it, change UPSTOW_PORT and UPSTOW_PUBLIC_URL.",
    );
  }
  return ok(`the installation in ${dataDir} responds at ${publicUrl}`);
}

async function hasOurSecret(publicUrl: string, keyring: Keyring): Promise<boolean> {
  const nonce = randomBytes(16).toString("base64url");
  const answer = await probe(`${publicUrl}${checkPath}${nonce}`);
  return answer.isAnswered && answer.status === 200 && proofOf(keyring, nonce).includes(answer.text);
}

async function checkCdn(cdnUrl: string): Promise<Check> {
  const answer = await probe(`${cdnUrl}/f/no/such/file`);
  const fix =
    "Set the CDN's origin to UPSTOW_PUBLIC_URL and forward responses unchanged, or correct UPSTOW_CDN_URL.";
  if (!answer.isAnswered) return cdn.failed(`No response from ${cdnUrl} (${answer.reason}).`, fix);
  const error = answer.body["error"] as { code?: unknown } | undefined;
  if (answer.status !== 404 || error?.code !== "NOT_FOUND") {
    return cdn.failed(`${cdnUrl} does not forward requests for files to this service.`, fix);
  }
  return cdn.ok(`${cdnUrl} reaches the service`);
}

type ProbeAnswer =
  | { isAnswered: true; status: number; text: string; body: Record<string, unknown> }
  | { isAnswered: false; reason: string };

const patienceMs = 5_000;

async function probe(url: string): Promise<ProbeAnswer> {
  try {
    const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(patienceMs) });
    const text = await response.text();
    return { isAnswered: true, status: response.status, text, body: readObject(text) };
  } catch (error) {
    return { isAnswered: false, reason: reasonOf(error) };
  }
}

function readObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** fetch reports the actual error as the cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
}

const tls = createChecks("TLS");

const dayMs = 86_400_000;
const soonDays = 21;

export function checkTls(config: Config, now: number): Check[] {
  if (config.tls === null) return [];
  const { hostname } = new URL(config.publicUrl);
  try {
    const certificate = new X509Certificate(config.tls.cert);
    if (!certificate.checkPrivateKey(createPrivateKey(config.tls.key))) {
      return [
        tls.failed("Key and certificate do not match.", "Set UPSTOW_TLS_KEY to the certificate's own key."),
      ];
    }
    return [checkDates(certificate, now), ...checkName(certificate, hostname)];
  } catch (error) {
    const message = `Key or certificate cannot be read: ${(error as Error).message}.`;
    return [
      tls.failed(
        message,
        "Set UPSTOW_TLS_CERT and UPSTOW_TLS_KEY to PEM files, the key without a passphrase.",
      ),
    ];
  }
}

function checkDates(certificate: X509Certificate, now: number): Check {
  const { validFromDate, validToDate } = certificate;
  const fix = "Renew the certificate; the service loads the new files automatically.";
  if (now < validFromDate.getTime()) {
    return tls.failed(
      `The certificate is not valid before ${validFromDate.toISOString()}.`,
      "Check this machine's clock.",
    );
  }
  const daysLeft = Math.floor((validToDate.getTime() - now) / dayMs);
  if (now >= validToDate.getTime())
    return tls.failed(`The certificate expired on ${validToDate.toISOString()}.`, fix);
  if (daysLeft < soonDays) return tls.warning(`The certificate expires in ${daysLeft} days.`, fix);
  return tls.ok(`key and certificate match, valid for ${daysLeft} more days`);
}

function checkName(certificate: X509Certificate, hostname: string): Check[] {
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  const found = isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name);
  if (found !== undefined || isLoopbackHost(hostname)) return [];
  return [
    tls.failed(`The certificate does not cover ${name}.`, "Use one for the host in UPSTOW_PUBLIC_URL."),
  ];
}
