/** Sleep that can be cut short. A ring while nobody sleeps is kept for the next sleeper. */
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
