import { setTimeout as wait } from "node:timers/promises";

/** Sleep that can be cut short. A ring while nobody sleeps is kept for the next sleeper. */
export interface Alarm {
  ring(): void;
  sleep(ms: number): Promise<void>;
}

export function createAlarm(): Alarm {
  let rung = false;
  let sleeper: AbortController | null = null;
  return {
    ring() {
      rung = true;
      sleeper?.abort();
    },
    async sleep(ms) {
      if (!rung) {
        sleeper = new AbortController();
        await wait(ms, undefined, { signal: sleeper.signal }).catch(() => {});
        sleeper = null;
      }
      rung = false;
    },
  };
}
