import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { hasBody } from "./body-deadline.ts";

const mostBytes = 8 * 1024 * 1024;
const mostMs = 5000;
const pollMs = 100;

/** An answer that does not wait for the end of the body, as most refusals do, ends its connection. */
export function lingerAfterEarlyAnswers(http: FastifyInstance): void {
  http.addHook("onSend", ({ raw }, reply, payload, done) => {
    if (raw.complete || !hasBody(raw)) {
      done(null, payload);
      return;
    }
    // A small body may be here already, behind the headers; then the connection can go on.
    setImmediate(() => {
      lingerAfterAnswer(raw, reply.raw);
      done(null, payload);
    });
  });
}

/**
 * To be called before the answer. Closing a socket that holds unread bytes makes the kernel reset it, and the client
 * would lose the answer: so the connection is closed for writing, what still arrives is thrown away for a while, and
 * only then it is cut.
 */
export function lingerAfterAnswer({ complete, socket }: IncomingMessage, response: ServerResponse): void {
  if (complete || response.headersSent) return;
  response.setHeader("connection", "close");
  // Node calls this once a last answer is written, having begun to discard the rest of the body.
  socket.destroySoon = () => lingerOn(socket);
}

function lingerOn(socket: Socket): void {
  socket.end();
  const deadline = performance.now() + mostMs;
  const enough = socket.bytesRead + mostBytes;
  const poll = setInterval(() => {
    if (socket.bytesRead > enough || performance.now() > deadline) socket.destroy();
  }, pollMs);
  poll.unref();
  socket.once("close", () => clearInterval(poll));
}
