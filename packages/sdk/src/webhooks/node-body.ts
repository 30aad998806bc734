import { readBytes } from "./web-handler.ts";

export interface NodeBody extends AsyncIterable<Uint8Array> {
  /** What a parser in front has made of it. */
  body?: unknown;
  readableEnded?: boolean;
}

/**
 * The signed bytes, wherever a parser in front has left them. JSON that was parsed is written again: the service
 * writes it in the same way, and if the two ever differed, the signature would not hold.
 */
export async function readNodeBody(request: NodeBody): Promise<Uint8Array | string | null> {
  const { body } = request;
  if (body instanceof Uint8Array || typeof body === "string") return body;
  return body === undefined || request.readableEnded === false ? readBytes(request) : JSON.stringify(body);
}
