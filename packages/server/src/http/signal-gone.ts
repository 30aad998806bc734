import type { ServerResponse } from "node:http";

/** Aborted when the client goes away before it was answered: nobody needs the work any more. */
export function signalGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  if (response.destroyed) gone.abort();
  return gone.signal;
}
