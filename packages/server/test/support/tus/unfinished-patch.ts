import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type IncomingMessage, request as startRequest } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

export const octets = "application/offset+octet-stream";

/** A PATCH whose body stays unfinished until the request is destroyed, on either side. */
export function startUnfinishedPatch(url: URL, length: number, first: Uint8Array) {
  const served = Promise.withResolvers<IncomingMessage>();
  const see = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    if (request.method === "PATCH" && request.url === url.pathname) served.resolve(request);
  };
  subscribe("http.server.request.start", see);
  const request = startRequest(url, {
    method: "PATCH",
    headers: {
      "tus-resumable": "1.0.0",
      "content-type": octets,
      "upload-offset": 0,
      "content-length": length,
    },
  });
  const ended = new Promise<number>((resolve) => {
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", () => resolve(0));
  });
  request.write(first);
  /** More than the connection buffers, so the upload has begun to consume it. */
  async function arrived(): Promise<void> {
    const { socket } = await served.promise;
    unsubscribe("http.server.request.start", see);
    assert.ok(first.length > 4 * 65_536);
    while (socket.bytesRead < first.length) await wait(5);
  }
  return { request, ended, arrived };
}
