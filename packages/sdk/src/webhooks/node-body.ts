import { readBytes } from "./web-handler.ts";

export interface NodeBody extends AsyncIterable<Uint8Array> {
  /** The body as left by a body parser. */
  body?: unknown;
  readableEnded?: boolean;
}

/**
 * The signed bytes, wherever a body parser left them. Parsed JSON is serialised again, in the same way as the service
 * does; if the two ever differed, the signature would be rejected.
 */
export async function readNodeBody(request: NodeBody): Promise<Uint8Array | string | null> {
  const { body } = request;
  if (body instanceof Uint8Array || typeof body === "string") return body;
  return body === undefined || request.readableEnded === false ? readBytes(request) : JSON.stringify(body);
}
