import { countColumns, takeColumns } from "../display-columns.ts";
import { clean, formatBytes, formatDuration } from "../format.ts";

const barWidth = 24;
const nameWidth = 28;
const drawEveryMs = 100;
/** Small files are sent by the hundred, and lines beyond the screen could not be erased. */
const mostShown = 8;

interface Bar {
  name: string;
  sentBytes: number;
  totalBytes: number;
}

/** One bar per active file and one for the total, redrawn in place. */
export function createProgressBars(
  total: { files: number; bytes: number },
  draw: (text: string) => void,
  now: () => number = Date.now,
) {
  const startMs = now();
  const underWay = new Set<Bar>();
  let [doneFiles, doneBytes, keptBytes, drawnMs] = [0, 0, 0, 0];

  function redraw(): void {
    drawnMs = now();
    const sentBytes = doneBytes + [...underWay].reduce((sum, bar) => sum + bar.sentBytes, 0);
    const perSec = (sentBytes - keptBytes) / Math.max(0.001, (now() - startMs) / 1000);
    const left = perSec > 0 ? `  ${formatDuration((total.bytes - sentBytes) / perSec)} left` : "";
    const all = `${doneFiles} of ${total.files} files`;
    const shown = [...underWay].filter((bar) => bar.sentBytes < bar.totalBytes).slice(0, mostShown);
    const lines = shown.map((bar) => drawBar(bar.name, bar.sentBytes, bar.totalBytes));
    draw([...lines, `${drawBar(all, sentBytes, total.bytes)}  ${formatBytes(perSec)}/s${left}`].join("\n"));
  }

  return {
    start(name: string, totalBytes: number) {
      const bar: Bar = { name, sentBytes: 0, totalBytes };
      let isFirst = true;
      underWay.add(bar);
      return {
        /** Bytes from an earlier run do not count toward this run's speed. */
        resumed(sentBytes: number) {
          if (isFirst) keptBytes += sentBytes;
          isFirst = false;
        },
        move(sentBytes: number) {
          bar.sentBytes = sentBytes;
          if (now() - drawnMs >= drawEveryMs) redraw();
        },
        end(isDone: boolean) {
          underWay.delete(bar);
          if (isDone) doneFiles++;
          doneBytes += bar.totalBytes;
          redraw();
        },
      };
    },
  };
}

function drawBar(name: string, sentBytes: number, totalBytes: number): string {
  const share = totalBytes === 0 ? 1 : sentBytes / totalBytes;
  const filled = Math.round(share * barWidth);
  const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  return `${fit(name)}  ${bar} ${percent}%  ${formatBytes(sentBytes)} of ${formatBytes(totalBytes)}`;
}

/** The end of a long name says more than its beginning. */
function fit(name: string): string {
  const letters = [...clean(name)];
  const isLong = countColumns(letters) > nameWidth;
  const shown = isLong ? ["…", ...takeColumns(letters.toReversed(), nameWidth - 1).reverse()] : letters;
  return shown.join("") + " ".repeat(nameWidth - countColumns(shown));
}
