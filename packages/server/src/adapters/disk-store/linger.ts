import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

const mostBytes = 8 * 1024 * 1024;
const mostMs = 5000;
const pollMs = 100;

/**
 * To be called before a request is refused whose body has not been read. Closing a socket that holds unread bytes
 * makes the kernel reset it, and the client would lose the answer: so the connection is closed for writing, what
 * still arrives is thrown away for a while, and only then it is cut.
 */
export function lingerAfterAnswer(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || response.headersSent) return;
  response.setHeader("connection", "close");
  const { socket } = request;
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
