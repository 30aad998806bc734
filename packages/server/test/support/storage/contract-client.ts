import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import type { ByteRange, ObjectStore } from "../../../src/storage/object-store.ts";
import { exchange } from "../exchange.ts";

/** A client of presigned URLs, for the contract suite. */
export async function put(url: string, body: Uint8Array | string, headers: Record<string, string> = {}) {
  const answer = await exchange(url, "PUT", headers, body);
  return { status: answer.status, etag: answer.headers.get("etag") ?? "", headers: answer.headers };
}

/** Writes a request by hand, for what well-behaved clients refuse to send, and returns all that came back. */
export function sendRaw(
  url: string,
  headers: string[],
  body: Uint8Array | string,
  options: { end?: "close" | "reset" } = {},
): Promise<string> {
  const { hostname, port, pathname, search, host } = new URL(url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write([`PUT ${pathname}${search} HTTP/1.1`, `Host: ${host}`, ...headers, "", ""].join("\r\n"));
      socket.write(body, () => {
        if (options.end === "reset") socket.resetAndDestroy();
        if (options.end === "close") socket.end();
      });
    });
    socket.setEncoding("latin1");
    socket.on("data", (text) => {
      answer += text;
      if (options.end === undefined && answer.includes("\r\n\r\n")) socket.end();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}

/** The bytes as a reader gets them, or null. */
export async function readAll(store: ObjectStore, key: string, range?: ByteRange): Promise<Buffer | null> {
  const bytes = await store.read(key, range === undefined ? {} : { range });
  return bytes === null || Buffer.isBuffer(bytes) ? bytes : buffer(bytes);
}
