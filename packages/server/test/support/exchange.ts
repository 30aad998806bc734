import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps, Agent as TlsAgent } from "node:https";
import { buffer } from "node:stream/consumers";

// Idle connections do not keep the process from ending.
const agent = new Agent({ keepAlive: true });
const tlsAgent = new TlsAgent({ keepAlive: true });

export interface Exchange {
  status: number;
  headers: Headers;
  bytes: Buffer;
}

/**
 * A request with the answer in full. Tests send tens of thousands, and each costs half of what `fetch` takes; what only
 * `fetch` does, such as to follow redirects and to decompress, is left out.
 */
export function exchange(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: string | Uint8Array,
): Promise<Exchange> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const given = { method, headers: { "user-agent": "node", ...length, ...headers } };
  const request: ClientRequest = url.startsWith("https:")
    ? requestHttps(url, { ...given, agent: tlsAgent })
    : requestHttp(url, { ...given, agent });
  request.on("error", reject);
  request.on("response", (answer) => void readAnswer(answer).then(resolve, reject));
  request.end(body);
  return promise;
}

async function readAnswer(answer: IncomingMessage): Promise<Exchange> {
  const headers = new Headers();
  const { rawHeaders } = answer;
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  return { status: answer.statusCode ?? 0, headers, bytes: await buffer(answer) };
}
