import { statfs } from "node:fs/promises";
import { requestUpload } from "../contenders/stored-files.ts";
import { startUpstow } from "../contenders/upstow.ts";
import { formatBelow, formatNumber } from "../harness/format.ts";
import { startLoad } from "../harness/load.ts";
import { readPeakRssBytes, readRssBytes, resetPeakRss } from "../harness/process-usage.ts";
import type { Benchmark, BenchmarkContext } from "../harness/report.ts";
import { spreadOf } from "../harness/statistics.ts";
import { uploadInParts } from "./upload-in-parts.ts";

const mib = 1024 * 1024;
const gib = 1024 * mib;
const clients = 200;
const putBytes = 10 * mib;
const targetPutsMib = 300;
const defaultBytes = 10 * gib;
/** The parts, and room for everything else that the machine does meanwhile. */
const spareBytes = 2 * gib;
/** Garbage comes and goes by a few megabytes; memory that grew with the file would double many times. */
const flat = 1.2;
const targetCompleteSec = 1;

/** All at once, again and again; the kernel keeps the peak, so that none is missed. */
async function measurePuts({ folder, seconds }: BenchmarkContext) {
  process.stderr.write(`  ${clients} PUTs at once\n`);
  const upstow = await startUpstow({ folder });
  const idleMib = readRssBytes(upstow.pid) / mib;
  const uploads = await Promise.all(Array.from({ length: clients }, () => requestUpload(upstow, putBytes)));
  resetPeakRss(upstow.pid);
  const load = startLoad();
  const { operations, elapsedSec } = await load.run({
    scenario: "put-bytes",
    target: { port: upstow.port, paths: uploads.map(({ uploadPath }) => uploadPath), sizeBytes: putBytes },
    clients,
    seconds,
    pids: { server: upstow.pid },
  });
  load.close();
  const peakMib = readPeakRssBytes(upstow.pid) / mib;
  await upstow.stop();
  return { idleMib, peakMib, operations, mibPerSec: (operations * putBytes) / mib / elapsedSec };
}

async function findFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function measureMultipart({ folder, sizes }: BenchmarkContext) {
  const largeBytes = sizes?.[0] ?? defaultBytes;
  if ((await findFreeBytes(folder)) < largeBytes + spareBytes) return null;
  process.stderr.write(`  ${largeBytes / gib} GiB in parts\n`);
  const upstow = await startUpstow({ folder });
  const measured = await uploadInParts(upstow, largeBytes, () => readRssBytes(upstow.pid) / mib);
  await upstow.stop();
  return { ...measured, gib: largeBytes / gib };
}

export const memory: Benchmark = {
  title: "Memory: many uploads at once, and one of 10 GiB",
  async run(context) {
    const puts = await measurePuts(context);
    const multipart = await measureMultipart(context);
    const rows = [
      [
        `${clients} PUTs of 10 MiB at the same time (${formatNumber(puts.mibPerSec)} MiB/s): peak RSS, MiB`,
        formatNumber(puts.peakMib),
        formatBelow(targetPutsMib, puts.peakMib, "MiB"),
      ],
    ];
    if (multipart !== null) {
      const { rssMib, completeSec, mibPerSec } = multipart;
      const whole = `${multipart.gib} GiB in parts`;
      const tenth = Math.max(1, Math.floor(rssMib.length / 10));
      const early = spreadOf(rssMib.slice(tenth, 2 * tenth)).median;
      const late = spreadOf(rssMib.slice(-tenth)).median;
      rows.push(
        [
          `${whole} (${formatNumber(mibPerSec)} MiB/s): RSS during the second tenth, MiB`,
          formatNumber(early),
          "",
        ],
        [
          `${whole}: RSS during the last tenth, MiB`,
          formatNumber(late),
          formatBelow(Math.round(early * flat), late, "MiB"),
        ],
        [
          `${whole}: completion, s`,
          formatNumber(completeSec),
          formatBelow(targetCompleteSec, completeSec, "s"),
        ],
      );
    }
    return {
      tables: [{ caption: "Embedded database and disk store", columns: ["", "measured", "target"], rows }],
      extent: "one run of each",
      notes:
        multipart === null ? ["Left out, because it needs 12 GiB of free disk: the upload of 10 GiB."] : [],
      data: { puts, multipart },
    };
  },
};
