import { json } from "../handler/answer.ts";
import { receiveInDevelopment } from "./development.ts";
import { type Answer, receiveDelivery, refuse, tooLarge, type WebhookOptions } from "./receive-delivery.ts";

/** Deliveries are far smaller, so anything larger is not ours. */
const longestBodyBytes = 1024 * 1024;

/** For every framework and runtime that uses Web `Request` and `Response`. */
export function createWebhookHandler(options: WebhookOptions): (request: Request) => Promise<Response> {
  receiveInDevelopment(options);
  return (request) => answerWeb(options, request, () => readBytes(request.body));
}

export async function answerWeb(
  options: WebhookOptions,
  { method, headers }: Pick<Request, "method" | "headers">,
  read: () => Promise<Uint8Array | null>,
): Promise<Response> {
  if (method !== "POST") {
    return send(refuse(405, "invalid_request", "METHOD_NOT_ALLOWED", "Use POST."), { allow: "POST" });
  }
  const body = await read();
  return send(body === null ? tooLarge : await receiveDelivery(options, { body, headers }));
}

function send({ status, body }: Answer, headers: Record<string, string> = {}): Response {
  return json(status, body, headers);
}

/** The bytes exactly as received; null if too large. Still read to the end, so that the sender sees the response. */
export async function readBytes(stream: AsyncIterable<Uint8Array> | null): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream ?? []) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes <= longestBodyBytes) chunks.push(chunk);
  }
  if (sizeBytes > longestBodyBytes) return null;
  const body = new Uint8Array(sizeBytes);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}
