import type { Database } from "../db/database.ts";

/** An interruptible sleep. A ring while no one sleeps is kept for the next sleeper. */
export interface Alarm {
  ring(): void;
  sleep(ms: number): Promise<void>;
}

export function createAlarm(): Alarm {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async sleep(ms) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = null;
      }
      rung = false;
    },
  };
}

/** Notifies every instance that there may be new messages. Has no payload: receivers check the queue. */
export const MESSAGES_CHANNEL = "webhook_messages";
const quietMs = 50;

/** The first of a burst is sent immediately and the rest together, because each notification costs a commit. */
export function createAnnouncer(db: Database, onFailure: (error: unknown) => void): () => void {
  let isQuiet = false;
  let isAskedAgain = false;

  function announce(): void {
    if (isQuiet) {
      isAskedAgain = true;
      return;
    }
    isQuiet = true;
    isAskedAgain = false;
    db.notify(MESSAGES_CHANNEL, "").catch(onFailure);
    setTimeout(() => {
      isQuiet = false;
      if (isAskedAgain) announce();
    }, quietMs).unref();
  }
  return announce;
}
