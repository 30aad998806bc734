import type { IncomingMessage, Server, ServerResponse } from "node:http";

const waiting = new WeakSet<IncomingMessage>();

/**
 * Lets an upload be refused before its bytes are sent: by itself Node answers `Expect: 100-continue` at once,
 * before anyone has looked at the request.
 */
export function deferContinue(server: Server, isDeferred: (request: IncomingMessage) => boolean): void {
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    if (isDeferred(request)) waiting.add(request);
    else response.writeContinue();
    server.emit("request", request, response);
  });
}

export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue();
}
