export interface Gathering<Item, Answer> {
  /** What one call takes; at least one. */
  fits(items: Item[]): number;
  /** Whether further items are likely to come soon. */
  isMoreComing(): boolean;
  /** One answer for each item. */
  send(items: Item[]): Promise<Answer>[];
  /** How long the first items wait for others; the next ones wait twice as long, and so on. */
  firstMs: number;
  longestMs: number;
}

interface Waiting<Item, Answer> {
  item: Item;
  settle(answer: Promise<Answer>): void;
}

/** Sends items that come close together in one call. The last one expected never waits. */
export function createGatherer<Item, Answer>(options: Gathering<Item, Answer>) {
  const { fits, isMoreComing, send, firstMs, longestMs } = options;
  let line: Waiting<Item, Answer>[] = [];
  let pauseMs = firstMs;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const sending = line;
    line = [];
    while (sending.length > 0) {
      const group = sending.splice(0, fits(sending.map(({ item }) => item)));
      const answers = send(group.map(({ item }) => item));
      for (const [i, { settle }] of group.entries()) settle(answers[i] as Promise<Answer>);
    }
  }

  /** Call it whenever something may have changed about what is coming. */
  function look(): void {
    if (line.length === 0) return;
    if (!isMoreComing()) {
      pauseMs = firstMs;
      flush();
      return;
    }
    timer ??= setTimeout(() => {
      pauseMs = Math.min(longestMs, pauseMs * 2);
      flush();
    }, pauseMs);
  }

  return {
    look,
    add: (item: Item) =>
      new Promise<Answer>((settle) => {
        line.push({ item, settle });
        look();
      }),
  };
}

/** What a batch call of the service takes. */
const filesPerCall = 100;

/** So many URLs are used before they expire, even at 1 Mbit/s. */
const bytesPerCall = 64 * 1024 * 1024;

/** How many of these fit into a call: files, bytes to be sent, and what their bodies weigh as JSON. */
export function countFitting(items: { bytes: number; weight: number }[], weightPerCall: number): number {
  let [bytes, weight] = [0, 0];
  const tooMany = items.findIndex((item, i) => {
    bytes += item.bytes;
    weight += item.weight;
    return i === filesPerCall || (i > 0 && (bytes > bytesPerCall || weight > weightPerCall));
  });
  return tooMany === -1 ? items.length : tooMany;
}
