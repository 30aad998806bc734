import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import { PIPELINED_MAX } from "@upstow/contract";

/** Two turns may pass between two rounds of timers; together they must not exceed an acceptable stall of 50 ms. */
const turnMs = 20;

/**
 * Node handles all requests that have arrived before it returns to timers and transfers, so two hundred cheap ones
 * would stall the event loop longer than the most expensive one. This handles them for some milliseconds at a time, in
 * the order of their arrival. It ignores accounts, unlike `limitLargeRequests` and `FairTurns`: here no one is known yet.
 */
export function handleInTurns(handler: RequestListener, now = () => performance.now()): RequestListener {
  let waiting = 0;
  let startedAt: number | null = null;

  const endTurn = () => {
    startedAt = null;
  };
  const handle: RequestListener = (request, response) => {
    if (startedAt === null) {
      startedAt = now();
      setImmediate(endTurn);
    }
    handler(request, response);
  };
  const isTurnOver = () => startedAt !== null && now() - startedAt >= turnMs;

  // Promises settle between two immediates, so a turn includes what its requests have started.
  const tryAgain: RequestListener = (request, response) => {
    if (isTurnOver()) {
      setImmediate(tryAgain, request, response);
      return;
    }
    waiting--;
    if (!request.socket.destroyed) handle(request, response);
  };

  return (request, response) => {
    if (waiting === 0 && !isTurnOver()) {
      handle(request, response);
      return;
    }
    waiting++;
    setImmediate(tryAgain, request, response);
  };
}

/**
 * A connection can send requests ahead without waiting for responses, thousands in one packet. Few clients do, and
 * they have to expect that the connection closes early.
 */
export function limitPipelining(handler: RequestListener): RequestListener {
  const counts = new WeakMap<Socket, number>();
  return (request, response) => {
    // Node assigns the socket to one response after another.
    if (response.socket !== null) {
      handler(request, response);
      return;
    }
    const { socket } = request;
    if (socket.destroyed) return;
    const count = (counts.get(socket) ?? 0) + 1;
    if (count > PIPELINED_MAX) {
      socket.destroy();
      return;
    }
    counts.set(socket, count);
    response.once("close", () => counts.set(socket, (counts.get(socket) ?? 0) - 1));
    handler(request, response);
  };
}
