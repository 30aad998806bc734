import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RateLimits } from "@upstow/contract";
import type { Config } from "../config.ts";
import { isLoopbackHost } from "../kernel/net/listen-address.ts";
import type { FirstStart } from "./first-start.ts";

export const readyLine = (config: Config) => `Upstow is ready at ${config.publicUrl}`;

/** Shown once the server listens. The keys are shown only this once. */
export function welcome(config: Config, firstStart: FirstStart | null): string {
  const ready = readyLine(config);
  if (firstStart === null) return ready;
  const { publicUrl } = config;
  return `
${ready}

  Shown once, so keep these somewhere safe. A lost key is revoked and replaced, never shown again.

  Live key   ${firstStart.liveKey}
  Test key   ${firstStart.testKey}
  Project    ${firstStart.projectId}
  Dashboard  ${publicUrl}/dashboard/claim#${firstStart.loginToken}
             signs you in as the owner; works once, for 24 hours
  Docs       ${publicUrl}/docs

  Upload a first file into the sandbox: paste these lines into another terminal, then open the "url" they end with.

${firstUpload(publicUrl, firstStart.testKey)}

  Add uploads to an app of yours: run this in its folder. It shows every change and asks first.

UPSTOW_URL=${publicUrl} UPSTOW_API_KEY=${firstStart.testKey} npx ${publicUrl}/packages/cli.tgz init

  ${rateNote(config.rateLimits)}
`;
}

/** A container with only a published port is not reachable; null if the service is. */
export function findUnreachable({ host, publicUrl, tls, httpFrom }: Config): string | null {
  const isMeantForOthers = !isLoopbackHost(host) && publicUrl.startsWith("http:");
  if (!isMeantForOthers || tls !== null || httpFrom !== null) return null;
  return "Only requests from this machine or container may use plain HTTP; all others need HTTPS. Behind a proxy, set UPSTOW_PUBLIC_URL=https://… and UPSTOW_TRUSTED_PROXIES; with a certificate, UPSTOW_TLS_CERT and UPSTOW_TLS_KEY. To accept plain HTTP from private networks such as Docker's, set UPSTOW_HTTP_FROM=172.16.0.0/12.";
}

/** Additional hints at a terminal; the output of the first start has scrolled away by then. */
export function describeService(
  { publicUrl, dataDir, rateLimits }: Config,
  { isFirstStart, areRequestsShown }: { isFirstStart: boolean; areRequestsShown: boolean },
): string {
  const below = areRequestsShown
    ? "Requests are listed below; 'npm start -- --quiet' shows only warnings."
    : "Only warnings and errors are listed below.";
  const end = `${below} Ctrl-C stops the service.`;
  if (isFirstStart) return `  ${end}\n`;
  return `
  Dashboard  ${publicUrl}/dashboard
  Docs       ${publicUrl}/docs
  Data       ${dataDir}

  ${rateNote(rateLimits)}

  ${end}
`;
}

/** A first application hits the limit soon, because all its users share one key. */
function rateNote({ upload, other }: RateLimits): string {
  if (upload === null || other === null) return "Rate limits are off (UPSTOW_RATE_LIMITS).";
  return `A key may send ${upload} upload requests per minute, two for each small file or batch of 100, and ${other} others;
  beyond that it gets 429. UPSTOW_RATE_LIMITS raises that for all keys, 'upstow account set-limits' for one account.`;
}

/** Request, PUT, complete. Lines start at the margin and need nothing but curl and sed, in any shell. */
function firstUpload(publicUrl: string, key: string): string {
  const content = "Hello, Upstow.";
  const file = {
    fileName: "hello.txt",
    fileSize: content.length,
    contentType: "text/plain",
    routeSlug: "default",
  };
  const call = (path: string) =>
    `curl -s ${publicUrl}/api/v1/upload/${path} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json'`;
  const field = (name: string) => `$(printf %s "$UPLOAD" | sed 's/.*"${name}":"\\([^"]*\\)".*/\\1/')`;
  return [
    `UPLOAD=$(${call("request")} -d '${JSON.stringify(file)}')`,
    `curl -s -X PUT "${field("uploadUrl")}" -H 'Content-Type: ${file.contentType}' -d '${content}'`,
    `${call("complete")} -d "{\\"fileId\\":\\"${field("fileId")}\\"}"`,
  ].join("\n");
}

/** What to print once the server listens. Container logs are stored and shipped, so keys may go to a file instead. */
export function showFirstStart(config: Config, firstStart: FirstStart | null): string {
  const shown = welcome(config, firstStart);
  if (firstStart === null || config.firstStartKeys === "print") return shown;
  const path = join(config.dataDir, "first-start.txt");
  try {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
    // Never overwrites an existing file, which may be a link or readable by others.
    rmSync(path, { force: true });
    writeFileSync(path, shown, { flag: "wx", mode: 0o600 });
    return `${readyLine(config)}\n\n  The first keys are in ${path}. Read the file, then delete it.\n`;
  } catch (error) {
    return `${readyLine(config)}

  ${path} could not be written: ${(error as Error).message}.
  The first keys are lost. Sign in with \`upstow account login-link\` and create others.
`;
  }
}
