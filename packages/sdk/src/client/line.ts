import { stoppable } from "../http/wait.ts";
import type { Put } from "../transfer/put.ts";
import { createSlots } from "../transfer/slots.ts";
import type { Online } from "./online.ts";

/** All bodies of an uploader share its slots. They wait while offline, which does not use up an attempt. */
export function createLine(put: Put, concurrency: number, online: Online): Put {
  const inSlot = createSlots(concurrency);
  return async (request) => {
    for (;;) {
      await online.untilOnline(request.signal);
      const offline = online.signal();
      try {
        return await stoppable([request.signal, offline], undefined, ({ signal }) =>
          inSlot(signal, () => put({ ...request, signal })),
        );
      } catch (error) {
        if (request.signal.aborted || !offline.aborted) throw error;
        request.onProgress(0);
      }
    }
  };
}
