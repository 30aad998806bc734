/** Refuses work that waits for anything but SQLite, because everyone who writes would wait with it. */
export interface StallWatch {
  start(): void;
  /** Called, until the next call of this, each time the work is found to wait for something else. */
  onStall(refuse: (reason: Error) => void): void;
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
    next = setImmediate(look);
    refuse(new Error("a transaction waited for something other than its own statements"));
  }

  return {
    start() {
      next = setImmediate(look);
    },
    onStall(refuseWork) {
      refuse = refuseWork;
    },
    end: () => clearImmediate(next),
  };
}
