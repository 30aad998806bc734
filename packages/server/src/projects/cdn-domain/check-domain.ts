import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Agent, request as startRequest } from "node:https";
import type { DeliveryErrorClass } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { classifyError } from "../../kernel/net/classify-failure.ts";
import type { OutboundGuard } from "../../kernel/net/outbound-guard.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";

const deadlineMs = 10_000;
const answerMaxBytes = 4096;
/** Where files are, so that a CDN which hands on nothing else is found to work; no key begins like this. */
export const checkPath = "/f/cdn-check/";

/** Only who holds the installation's secret can answer: another service behind the domain is told apart. */
export function proofOf(keyring: Keyring, nonce: string): string[] {
  return keyring
    .keysFor("cdn domain check")
    .map((key) => createHmac("sha256", key).update(nonce).digest("base64url"));
}

/** Asks for a proof through the domain, as a visitor would. Null where it came back; otherwise what is wrong. */
export async function findDomainProblem(
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
      return `${hostname} redirects (${status}). It has to answer requests for files itself.`;
    if (status === 403 && text.includes("Plain HTTP"))
      return "The CDN asks this service over plain HTTP. Let it fetch over https.";
    return `${hostname} answers (${status}), but this service is not behind it. Let the CDN fetch from ${config.publicUrl} and hand on paths as they are.`;
  } catch (error) {
    return explain(signal.aborted ? "timeout" : classifyError(error), hostname, config.cdnUrl);
  }
}

function explain(failure: DeliveryErrorClass, hostname: string, cdnUrl: string): string {
  switch (failure) {
    case "dns":
      return `The name ${hostname} is not in DNS. Add a CNAME record for it that points to your CDN, or to ${new URL(cdnUrl).hostname}.`;
    case "tls":
      return `The certificate at ${hostname} was not accepted: it is for another name, expired or from an unknown authority.`;
    case "timeout":
      return `${hostname} did not answer within ${deadlineMs / 1000} seconds.`;
    case "blocked":
      return `The name ${hostname} leads to an address that is not public.`;
    case "refused":
      return `Nothing listens for https at ${hostname}.`;
    default:
      return `The connection to ${hostname} broke before there was an answer.`;
  }
}

/** Over a connection of its own, so that the address is judged; redirects are not followed. */
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
  // Leaving the loop cuts the connection.
  for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
    text += chunk;
    if (text.length > answerMaxBytes) break;
  }
  return { status: response.statusCode ?? 0, text };
}
