import { statfs } from "node:fs/promises";
import { findNginx } from "../contenders/nginx.ts";
import { startNodeServer } from "../contenders/node-server.ts";
import { putRepeatedly, requestUpload, storeLarge } from "../contenders/stored-files.ts";
import { startUpstow, type Upstow } from "../contenders/upstow.ts";
import { formatExtent, formatNumber } from "../harness/format.ts";
import { type GrowthLine, ratePerSec, toGrowth } from "../harness/growth.ts";
import { startLoad } from "../harness/load.ts";
import { readPeakRssBytes, readRssBytes, resetPeakRss } from "../harness/process-usage.ts";
import type { Benchmark, Table } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const mib = 1024 ** 2;
const gib = 1024 ** 3;
const defaultSizes = [10 * 1024, 100 * 1024, mib, 10 * mib, 100 * mib, gib];

interface Place {
  label: string;
  port: number;
  pid: number;
  /** Where a file of this size is put and read; it has been stored already. */
  paths: Map<number, { put: string; get: string }>;
}

const formatSize = (bytes: number) =>
  bytes >= gib ? `${bytes / gib} GiB` : bytes >= mib ? `${bytes / mib} MiB` : `${bytes / 1024} KiB`;

async function prepareUpstow(upstow: Upstow, amounts: number[]): Promise<Place> {
  const paths: Place["paths"] = new Map();
  for (const bytes of amounts) {
    const { uploadPath } = await requestUpload(upstow, bytes);
    paths.set(bytes, { put: uploadPath, get: await storeLarge(upstow, bytes) });
  }
  return { label: "Upstow", port: upstow.port, pid: upstow.pid, paths };
}

async function preparePlain(label: string, server: { port: number; pid: number }, amounts: number[]) {
  const paths: Place["paths"] = new Map();
  for (const bytes of amounts) {
    await putRepeatedly(server.port, `/stored-${bytes}`, bytes);
    paths.set(bytes, { put: `/put-${bytes}`, get: `/stored-${bytes}` });
  }
  return { label, port: server.port, pid: server.pid, paths };
}

function toContenders({ label, port, pid, paths }: Place): Contender[] {
  return [...paths].flatMap(([sizeBytes, { put, get }]) => {
    // All sizes ask the same server: thousands of the smallest warm it up, of the others a moment is enough.
    const warmUpOperations = sizeBytes === Math.min(...paths.keys()) ? 2000 : 1;
    const shared = { clients: 1, pids: { server: pid }, warmUpOperations };
    return [
      {
        ...shared,
        name: `PUT, ${label}, ${sizeBytes}`,
        scenario: "put-bytes",
        target: { port, paths: [put], sizeBytes },
      },
      {
        ...shared,
        name: `GET, ${label}, ${sizeBytes}`,
        scenario: "get-file",
        target: { port, paths: [get], sizeBytes },
      },
    ];
  });
}

/** Of the service while one file of each size arrives and leaves. */
async function measurePeaks(upstow: Upstow, { paths }: Place, amounts: number[]): Promise<Table> {
  process.stderr.write("  memory\n");
  const load = startLoad();
  const rows: string[][] = [["PUT"], ["GET"]];
  const idleMib = readRssBytes(upstow.pid) / mib;
  for (const sizeBytes of amounts) {
    const { put = "", get = "" } = paths.get(sizeBytes) ?? {};
    for (const [row, scenario, path] of [
      [rows[0], "put-bytes", put],
      [rows[1], "get-file", get],
    ] as const) {
      resetPeakRss(upstow.pid);
      const target = { port: upstow.port, paths: [path], sizeBytes };
      await load.run({ scenario, target, clients: 1, seconds: 0.5, pids: { server: upstow.pid } });
      row?.push(formatNumber(readPeakRssBytes(upstow.pid) / mib));
    }
  }
  load.close();
  return {
    caption: `Most memory of the service meanwhile (RSS), MiB; ${formatNumber(idleMib)} before`,
    columns: ["size", ...amounts.map(formatSize)],
    rows,
  };
}

async function fitOnDisk(folder: string, amounts: number[]): Promise<number[]> {
  const { bavail, bsize } = await statfs(folder);
  return amounts.filter((bytes) => bytes * 8 < bavail * bsize);
}

export const growthSize: Benchmark = {
  title: "How rate and cost grow with the size of a file",
  async run({ folder, rounds, seconds, sizes }) {
    // There are many points to measure.
    const eachSec = seconds / 2;
    const wanted = sizes ?? defaultSizes;
    const amounts = await fitOnDisk(folder, wanted);
    const tooLarge = wanted.filter((bytes) => !amounts.includes(bytes));
    const upstow = await startUpstow({ folder });
    const nginx = await findNginx(folder);
    const streams = await startNodeServer(folder, "stream-server");
    process.stderr.write(`  storing ${amounts.map(formatSize).join(", ")} on each server\n`);
    const own = await prepareUpstow(upstow, amounts);
    const places = [own, await preparePlain("plain streams of Node", streams, amounts)];
    if (nginx !== null) places.push(await preparePlain("nginx", nginx, amounts));
    const results = await runRounds(places.flatMap(toContenders), { rounds, seconds: eachSec });
    const peaks = await measurePeaks(upstow, own, amounts);
    await Promise.all([upstow.stop(), streams.stop(), nginx?.stop()]);
    const lines: GrowthLine[] = ["PUT", "GET"].flatMap((method) =>
      places.map(({ label }) => ({
        label: `${method}, ${label}`,
        steps: amounts.map((bytes) => results.get(`${method}, ${label}, ${bytes}`) ?? []),
      })),
    );
    const axis = { xLabel: "size", xTicks: amounts.map(formatSize) };
    const views = [
      toGrowth(
        {
          ...axis,
          name: "growth-size-rate",
          title: "Rate by size of the file, one client",
          yLabel: "MiB/s",
          value: (result, step) => (ratePerSec(result) * (amounts[step] ?? 0)) / mib,
        },
        lines,
      ),
      toGrowth(
        {
          ...axis,
          name: "growth-size-cpu",
          title: "Cost by size of the file, one client",
          yLabel: "CPU s/GiB",
          value: ({ cpuSec, operations }, step) =>
            ((cpuSec["server"] ?? 0) / operations) * (gib / (amounts[step] ?? 1)),
        },
        lines,
      ),
    ];
    return {
      tables: [...views.map(({ table }) => table), peaks],
      charts: views.map(({ chart }) => chart),
      extent: formatExtent(rounds, eachSec),
      notes: [
        "Upstow computes a SHA-256 and waits for fsync; the others do neither.",
        ...(tooLarge.length > 0
          ? [`Left out, because the disk is too small: ${tooLarge.map(formatSize).join(", ")}.`]
          : []),
        ...(nginx === null ? ["Left out, because nginx is not installed here: nginx."] : []),
      ],
      data: Object.fromEntries(results),
    };
  },
};
