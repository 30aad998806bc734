export interface Gathering<Item, Answer> {
  /** How many items fit into one call; at least one. */
  fits(items: Item[]): number;
  /** Whether more items are likely to follow soon. */
  isMoreComing(): boolean;
  /** One result per item. */
  send(items: Item[]): Promise<Answer>[];
  /** How long the first items wait for others; later ones wait twice as long each time. */
  firstMs: number;
  longestMs: number;
}

interface Waiting<Item, Answer> {
  item: Item;
  settle(answer: Promise<Answer>): void;
}

/** Sends items that arrive close together in one call. The last expected item never waits. */
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

  /** Call it whenever expectations about further items may have changed. */
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

/** The service's batch size. */
const filesPerCall = 100;

/** At 1 Mbit/s, this many bytes can be sent before the URLs expire. */
const bytesPerCall = 64 * 1024 * 1024;

/** How many of these fit into one call, by number of files, bytes to send and size of the JSON. */
export function countFitting(items: { bytes: number; weight: number }[], weightPerCall: number): number {
  let [bytes, weight] = [0, 0];
  const tooMany = items.findIndex((item, i) => {
    bytes += item.bytes;
    weight += item.weight;
    return i === filesPerCall || (i > 0 && (bytes > bytesPerCall || weight > weightPerCall));
  });
  return tooMany === -1 ? items.length : tooMany;
}
