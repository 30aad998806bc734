export interface Progress {
  show(done: number, counts: Record<string, number>): void;
}

const mostLinesEachMs = 15_000;

/** One line that changes on a terminal, a line now and then in a file. */
export function createProgress(name: string, rounds: number): Progress {
  const startedMs = Date.now();
  let lastMs = 0;
  let firstDone: number | null = null;
  return {
    show(done, counts) {
      firstDone ??= done - 1;
      const nowMs = Date.now();
      const isTerminal = process.stdout.isTTY;
      if (nowMs - lastMs < (isTerminal ? 100 : mostLinesEachMs) && done < rounds) return;
      lastMs = nowMs;
      const leftMs = ((nowMs - startedMs) / (done - firstDone)) * (rounds - done);
      const parts = Object.entries(counts).map(([what, count]) => `${what} ${count}`);
      const line = [`${name} ${done}/${rounds}`, `about ${Math.ceil(leftMs / 60_000)} min left`, ...parts];
      process.stdout.write(isTerminal ? `\r\u001b[2K${line.join(" · ")}` : `${line.join(" · ")}\n`);
    },
  };
}
