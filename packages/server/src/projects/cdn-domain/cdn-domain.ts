import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Agent, request as startRequest } from "node:https";
import type { DeliveryErrorClass } from "@upstow/contract";
import { sql } from "#kysely";
import { UniqueViolation } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import { invalid, notFound } from "../../kernel/errors.ts";
import { classifyError } from "../../kernel/net/classify-failure.ts";
import { isLoopbackHost } from "../../kernel/net/listen-address.ts";
import type { OutboundGuard } from "../../kernel/net/outbound-guard.ts";
import { parseOutboundUrl } from "../../kernel/net/outbound-url.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import { record } from "../audit/record.ts";
import { writeLog } from "../logs/queries.ts";

type DomainDeps = Pick<Deps, "config" | "customHosts" | "db" | "keyring" | "webhookGuard" | "now" | "author">;

/**
 * From now on, URLs of the project's files and variants use the domain, which serves nothing else. Earlier URLs keep
 * working, because the installation's own hosts serve every file.
 */
export async function setCdnDomain(deps: DomainDeps, projectId: string, domain: string): Promise<string> {
  const cdnUrl = parseDomain(deps, domain);
  const problem = await findDomainProblem(deps, cdnUrl);
  if (problem !== null) throw invalid("domain", `cannot be used: ${problem}`);
  await save(deps, projectId, cdnUrl, `Files are now served at ${cdnUrl}.`);
  return cdnUrl;
}

export async function removeCdnDomain(deps: DomainDeps, projectId: string): Promise<void> {
  const former = await getCdnUrl(deps, projectId);
  await save(deps, projectId, null, `Files are no longer served at ${former}.`);
}

/** The problem with the current domain, in a sentence or two; null if there is none. */
export async function checkCdnDomain(deps: DomainDeps, projectId: string): Promise<string | null> {
  return findDomainProblem(deps, await getCdnUrl(deps, projectId));
}

function parseDomain({ config }: DomainDeps, domain: string): string {
  const text = domain.trim();
  const parsed = parseOutboundUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if (!parsed.ok) throw invalid("domain", parsed.reason);
  const { origin, hostname, host, pathname, search } = parsed.url;
  if (pathname !== "/" || search !== "") throw invalid("domain", "must be a host name without a path");
  const isOwn = [config.publicUrl, config.cdnUrl]
    .map((address) => new URL(address))
    .some((own) => own.host === host || (own.hostname === hostname && !isLoopbackHost(hostname)));
  if (isOwn)
    throw invalid("domain", "is the installation's own host, which serves the files of all projects");
  return origin;
}

async function getCdnUrl({ db }: DomainDeps, projectId: string): Promise<string> {
  const project = await db.get(findCdnUrl, { projectId });
  if (project === null || project.cdnUrl === null) throw notFound("A domain of this project was");
  return project.cdnUrl;
}

async function save(
  deps: DomainDeps,
  projectId: string,
  cdnUrl: string | null,
  message: string,
): Promise<void> {
  const now = deps.now();
  try {
    await deps.db.transact(async (tx) => {
      const before = await tx.get(findCdnUrl, { projectId });
      const changed = await tx.get(setCdnUrl, { projectId, cdnUrl, now });
      if (before === null || changed === null) throw notFound("Project");
      await writeLog(tx, now, { projectId, environment: "live", type: "project.updated", message });
      await record(tx, now, deps.author, {
        action: cdnUrl === null ? "domain.removed" : "domain.set",
        target: { kind: "project", id: projectId, label: changed.name },
        projectId,
        before: { cdn_url: before.cdnUrl },
        after: { cdn_url: cdnUrl },
      });
    });
  } catch (error) {
    throw error instanceof UniqueViolation ? invalid("domain", "is used by another project") : error;
  }
  deps.customHosts.forget();
}

const deadlineMs = 10_000;
const answerMaxBytes = 4096;
/** Below the path of files, so that a CDN that forwards nothing else passes the check; no key begins like this. */
export const checkPath = "/f/cdn-check/";

/** Only a holder of the installation's secret can produce it, so another service behind the domain is detected. */
export function proofOf(keyring: Keyring, nonce: string): string[] {
  return keyring
    .keysFor("cdn domain check")
    .map((key) => createHmac("sha256", key).update(nonce).digest("base64url"));
}

/** Requests a proof through the domain, as a visitor would. Null on success; otherwise the problem. */
async function findDomainProblem(
  { config, keyring, webhookGuard }: Pick<Deps, "config" | "keyring" | "webhookGuard">,
  cdnUrl: string,
): Promise<string | null> {
  const nonce = randomBytes(16).toString("base64url");
  const check = await webhookGuard.checkUrl(`${cdnUrl}${checkPath}${nonce}`);
  if (!check.ok) return check.reason;
  const { hostname } = check.url;
  const signal = AbortSignal.timeout(deadlineMs);
  try {
    const { status, text } = await get(check.url, webhookGuard, signal);
    if (status === 200 && proofOf(keyring, nonce).includes(text)) return null;
    if (status >= 300 && status < 400)
      return `${hostname} redirects (${status}). It must serve files itself.`;
    if (status === 403 && text.includes("Plain HTTP"))
      return "The CDN calls this service over plain HTTP. Configure it to use HTTPS.";
    return `${hostname} responds (${status}), but not from this service. Set the CDN's origin to ${config.publicUrl} and forward paths unchanged.`;
  } catch (error) {
    return explain(signal.aborted ? "timeout" : classifyError(error), hostname, config.cdnUrl);
  }
}

function explain(failure: DeliveryErrorClass, hostname: string, cdnUrl: string): string {
  switch (failure) {
    case "dns":
      return `The name ${hostname} is not in DNS. Add a CNAME record for it that points to your CDN, or to ${new URL(cdnUrl).hostname}.`;
    case "tls":
      return `The certificate at ${hostname} is invalid: it is for another name, expired or from an unknown authority.`;
    case "timeout":
      return `${hostname} did not respond within ${deadlineMs / 1000} seconds.`;
    case "blocked":
      return `The name ${hostname} resolves to an address that is not public.`;
    case "refused":
      return `${hostname} does not accept HTTPS connections.`;
    default:
      return `The connection to ${hostname} was closed before a response arrived.`;
  }
}

/** Uses a fresh connection, so that the address is checked. Redirects are not followed. */
async function get(
  url: URL,
  { lookup }: OutboundGuard,
  signal: AbortSignal,
): Promise<{ status: number; text: string }> {
  const agent = new Agent({ keepAlive: false });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = startRequest(url, { agent, lookup, signal, headers: { "cache-control": "no-cache" } });
  request.once("response", resolve);
  request.on("error", reject);
  request.once("upgrade", (_response, socket) => {
    socket.destroy();
    reject(new Error("the domain switched protocols"));
  });
  request.end();
  const response = await promise;
  let text = "";
  // Leaving the loop closes the connection.
  for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
    text += chunk;
    if (text.length > answerMaxBytes) break;
  }
  return { status: response.statusCode ?? 0, text };
}

const findCdnUrl = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("project")
    .select("cdn_url as cdnUrl")
    .where("id", "=", p.projectId)
    .where("deleted_at", "is", null),
);

/** A deleted project keeps its domain, which still serves its files, until another project claims it. */
export const findProjectOfDomain = statement((q, p: { cdnUrl: string }) =>
  q
    .selectFrom("project")
    .select("id")
    .where("cdn_url", "=", p.cdnUrl)
    .orderBy(sql`case when deleted_at is null then 0 else 1 end`)
    .orderBy("id", "desc")
    .limit(1),
);

export const setCdnUrl = statement((q, p: { projectId: string; cdnUrl: string | null; now: number }) =>
  q
    .updateTable("project")
    .set({ cdn_url: p.cdnUrl, updated_at: p.now })
    .where("id", "=", p.projectId)
    .where("deleted_at", "is", null)
    .returning("name"),
);
