import { execFile } from "node:child_process";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createRenderPool } from "../../packages/server/src/serving/images/render/render-pool.ts";
import { createPhoto } from "../contenders/photo.ts";
import { formatNumber, formatShare } from "../harness/format.ts";
import { readCpuSec } from "../harness/process-usage.ts";
import type { Benchmark } from "../harness/report.ts";
import { spreadOf } from "../harness/statistics.ts";

const limitBesideSharp = 1.15;
const photosPerRound = 20;
const warmUp = 200;
const run = promisify(execFile);

export const imageFacts: Benchmark = {
  title: "The facts of a photo of 12 megapixels",
  async run({ folder, rounds }) {
    const path = join(folder, "photo.jpg");
    await writeFile(path, await createPhoto());
    const { size: sizeBytes } = await stat(path);
    const pool = createRenderPool({
      size: 1,
      waitingPerAccount: 1,
      waitingInAll: 1,
      previewsPerAccount: { running: 1, waiting: 1 },
      deadlineMs: 20_000,
      patienceMs: 5_000,
      giveUpMs: 60_000,
      maxRssBytes: 300 * 1024 * 1024,
      maxJobs: 100_000,
    });
    const source = {
      account: "a",
      findSourceFile: async () => ({ path, sizeBytes }),
      readSource: () => Promise.reject(new Error("the photo is on the disk")),
    };
    /** With what the service itself does to hand the file over. */
    async function describeAll(count: number): Promise<number> {
      const cpuBefore = readCpuSec(process.pid);
      for (let i = 0; i < count; i++) {
        const result = await pool.describe(source, false);
        if (!result.ok) throw new Error(result.problem);
      }
      return ((readCpuSec(process.pid) - cpuBefore) * 1000) / count;
    }
    const script = fileURLToPath(new URL("../contenders/sharp-facts.ts", import.meta.url));
    const args = ["--disable-warning=ExperimentalWarning", script, path, String(photosPerRound)];
    const costs: { sharp: number; upstow: number }[] = [];
    try {
      await describeAll(warmUp);
      for (let round = 0; round < rounds; round++) {
        const { stdout } = await run(process.execPath, args);
        const { cpuMs } = JSON.parse(stdout) as { cpuMs: number };
        costs.push({ sharp: cpuMs, upstow: await describeAll(photosPerRound) });
      }
    } finally {
      await pool.close();
    }
    const share = spreadOf(costs.map(({ sharp, upstow }) => upstow / sharp));
    const median = (name: "sharp" | "upstow") =>
      formatNumber(spreadOf(costs.map((cost) => cost[name])).median);
    const mark = share.median <= limitBesideSharp ? "✔" : "✘";
    const rows = [
      ["sharp in process: header and 100 pixels", median("sharp"), "", ""],
      [
        "Upstow: in a renderer, with colour and placeholder",
        median("upstow"),
        formatShare(share),
        `≤ ${limitBesideSharp} of sharp ${mark}`,
      ],
    ];
    const columns = ["", "CPU ms", "CPU beside sharp", "target"];
    return { tables: [{ caption: "Facts of 12 megapixels, JPEG", columns, rows }], notes: [], data: costs };
  },
};
