/** Refuses work that waits for anything but SQLite, because everyone who writes would wait with it. */
export interface StallWatch {
  start(): void;
  /** Settles as the work does, or rejects once the work waits for something else. */
  untilStalled<T>(work: Promise<T>): Promise<T>;
  end(): void;
}

/**
 * SQLite answers at once, so the work of a transaction is a chain of microtasks. Work that is still open in the next
 * phase of the event loop waits for something else.
 */
export function createStallWatch(): StallWatch {
  let refuse: (reason: Error) => void = () => {};
  let next: NodeJS.Immediate | undefined;

  function look(): void {
    refuse(new Error("a transaction waited for something other than its own statements"));
    next = setImmediate(look);
  }

  return {
    start() {
      next = setImmediate(look);
    },
    untilStalled: (work) =>
      new Promise((resolve, reject) => {
        refuse = reject;
        work.then(resolve, reject);
      }),
    end: () => clearImmediate(next),
  };
}
