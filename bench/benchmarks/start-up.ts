import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { launch } from "../contenders/upstow.ts";
import { formatBelow, formatNumber } from "../harness/format.ts";
import { readCpuSec, readRssBytes } from "../harness/process-usage.ts";
import type { Benchmark } from "../harness/report.ts";
import { spreadOf } from "../harness/statistics.ts";

const idleMs = 2000;
const mib = 1024 * 1024;
const targetReadySec = 0.7;
const targetIdleMib = 120;

export const startUp: Benchmark = {
  title: "Start-up: from the command to the first answer, and memory once idle",
  async run({ folder, rounds }) {
    const dataDir = await mkdtemp(join(folder, "upstow-"));
    const starts = [];
    for (let start = 0; start <= rounds; start++) {
      const { program, readyMs } = await launch(dataDir, {});
      const cpuSec = readCpuSec(program.pid);
      await sleep(idleMs);
      starts.push({ readySec: readyMs / 1000, cpuSec, idleMib: readRssBytes(program.pid) / mib });
      await program.stop();
    }
    const [first, ...later] = starts;
    const ready = spreadOf(later.map(({ readySec }) => readySec));
    const idle = spreadOf(later.map(({ idleMib }) => idleMib));
    const cpu = spreadOf(later.map(({ cpuSec }) => cpuSec));
    const range = ({ least, most }: typeof ready) => `${formatNumber(least)}–${formatNumber(most)}`;
    return {
      tables: [
        {
          caption: `Embedded database, ${later.length} starts after the first`,
          columns: ["", "median", "spread", "target"],
          rows: [
            ["first start, s", formatNumber(first?.readySec ?? Number.NaN), "", ""],
            [
              "later starts, s",
              formatNumber(ready.median),
              range(ready),
              formatBelow(targetReadySec, ready.median, "s"),
            ],
            ["CPU until ready, s", formatNumber(cpu.median), range(cpu), ""],
            [
              "idle memory (RSS), MiB",
              formatNumber(idle.median),
              range(idle),
              formatBelow(targetIdleMib, idle.median, "MiB"),
            ],
          ],
        },
      ],
      notes: [],
      data: { starts, ready, idle, cpu },
    };
  },
};
