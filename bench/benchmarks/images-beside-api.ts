import { createRenderStorm } from "../contenders/render-storm.ts";
import { startUpstow } from "../contenders/upstow.ts";
import { formatNumber, formatShare } from "../harness/format.ts";
import { startLoad } from "../harness/load.ts";
import type { LoadResult } from "../harness/load-job.ts";
import type { Benchmark } from "../harness/report.ts";
import { spreadOf } from "../harness/statistics.ts";

const clients = 4;
const most = 2;
const warmUpSec = 6;

export const imagesBesideApi: Benchmark = {
  title: `POST /upload/request with ${clients} clients while 16 bombs and 16 photos render`,
  async run({ folder, rounds, seconds }) {
    const upstow = await startUpstow({ folder });
    const storm = await createRenderStorm(upstow);
    const load = startLoad();
    const { port, key, pid } = upstow;
    const measure = (duration: number): Promise<LoadResult> =>
      load.run({
        scenario: "request-upload",
        target: { port, key },
        clients,
        seconds: duration,
        pids: { server: pid },
      });
    await measure(warmUpSec);
    const repeat = async (label: string) => {
      const results: LoadResult[] = [];
      while (results.length < rounds) {
        process.stderr.write(`  ${label}, round ${results.length + 1} of ${rounds}\n`);
        results.push(await measure(seconds));
      }
      return results;
    };
    const idle = await repeat("idle");
    await storm.start();
    const busy = await repeat("rendering");
    const images = storm.stop();
    load.close();
    await upstow.stop();
    const ratio = (part: (result: LoadResult) => number) =>
      spreadOf(busy.map((result, i) => part(result) / part(idle[i] ?? result)));
    const row = (label: string, results: LoadResult[], beside: string, target: string) => [
      label,
      formatNumber(spreadOf(results.map((result) => result.operations / result.elapsedSec)).median),
      formatNumber(spreadOf(results.map(({ medianMs }) => medianMs)).median),
      formatNumber(spreadOf(results.map(({ p99Ms }) => p99Ms)).median),
      beside,
      target,
    ];
    const p99 = ratio((result) => result.p99Ms);
    return {
      tables: [
        {
          caption: "POST /upload/request, embedded database",
          columns: ["", "requests/s", "median ms", "p99 ms", "p99 beside idle", "target"],
          rows: [
            row("nothing rendered", idle, "", ""),
            row("all renderers busy", busy, formatShare(p99), `≤ ${most} ${p99.median <= most ? "✔" : "✘"}`),
          ],
        },
      ],
      notes: [`During the run, ${images.rendered} images were rendered and ${images.refused} rejected.`],
      data: { idle, busy, images },
    };
  },
};
