import type { Call } from "../command.ts";
import { formatDuration } from "../format.ts";

export interface Progress {
  /** Progress of one step; a new label starts a new step. */
  show(label: string, done: number, total: number): void;
}

const barWidth = 24;
const drawEveryMs = 100;
const lineEveryMs = 5_000;
/** Early estimates are far off. */
const guessAfterMs = 3_000;
const guessAfterShare = 0.01;

/** A bar on a terminal; otherwise a line now and then, and one at the end of each step. */
export function createProgress(
  call: Pick<Call, "progress" | "note" | "showsProgress">,
  format: (amount: number) => string,
  now: () => number = Date.now,
): Progress {
  let step = { label: "", startMs: 0, startedAt: 0, shownMs: Number.NEGATIVE_INFINITY, isEndShown: false };

  function draw(label: string, done: number, total: number): void {
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const percent = `${Math.floor(share * 100)}%`;
    const amounts = `${format(done)} of ${format(total)}`;
    if (!call.showsProgress) {
      call.note(`${label}: ${percent}, ${amounts}`);
      return;
    }
    const filled = Math.round(share * barWidth);
    const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
    call.progress(`${label}  ${bar} ${percent.padStart(4)}  ${amounts}${guessTimeLeft(done, total)}`);
  }

  function guessTimeLeft(done: number, total: number): string {
    const [amount, tookMs] = [done - step.startedAt, now() - step.startMs];
    const isEarly = tookMs < guessAfterMs || amount < (total - step.startedAt) * guessAfterShare;
    if (isEarly || done >= total) return "";
    return `  ${formatDuration(((total - done) / amount) * (tookMs / 1000))} left`;
  }

  return {
    show(label, done, total) {
      if (label !== step.label) {
        step = {
          label,
          startMs: now(),
          startedAt: done,
          shownMs: Number.NEGATIVE_INFINITY,
          isEndShown: false,
        };
      }
      const isDue = now() - step.shownMs >= (call.showsProgress ? drawEveryMs : lineEveryMs);
      const isEnd = done >= total;
      if (isEnd ? step.isEndShown : !isDue) return;
      step.isEndShown = isEnd;
      step.shownMs = now();
      draw(label, done, total);
    },
  };
}
