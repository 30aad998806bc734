import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createTestBucket } from "../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../test/support/swift.ts";
import type { UploadJob, UploadResult } from "../clients/upload-job.ts";
import { needPackage } from "../contenders/bench-packages.ts";
import { startTus } from "../contenders/tus.ts";
import { startUpstow } from "../contenders/upstow.ts";
import { formatNumber, formatShare } from "../harness/format.ts";
import type { Benchmark, Table } from "../harness/report.ts";
import { spreadOf } from "../harness/statistics.ts";

const mib = 1024 * 1024;

interface Client {
  name: string;
  label: string;
  program: string;
  target: Record<string, string>;
}

interface Work {
  title: string;
  unit: string;
  amount: number;
  job: Pick<UploadJob, "paths" | "filesAtOnce">;
}

/** What a script pays that uploads with a client library: time, and its own CPU. */
export const clientUploads: Benchmark = {
  title: "Uploading from Node with client libraries, each to its own server",
  async run({ folder, rounds }) {
    for (const name of ["tus-js-client", "@aws-sdk/lib-storage"]) needPackage(name);
    const upstow = await startUpstow({ folder });
    const tus = await startTus(folder);
    const swift = swiftMissing === false ? await startSwift() : null;
    const clients: Client[] = [
      {
        name: "upstow",
        label: "@upstow/sdk to Upstow, with fsync",
        program: "upstow-client.ts",
        target: { url: upstow.url, key: upstow.key },
      },
      {
        name: "tus",
        label: "tus-js-client to @tus/server, no fsync",
        program: "tus-client.ts",
        target: { endpoint: `http://127.0.0.1:${tus.port}${tus.path}` },
      },
    ];
    if (swift !== null) {
      const { stop: _, ...target } = swift;
      clients.push({
        name: "aws",
        label: "@aws-sdk/lib-storage to OpenStack Swift (S3 API)",
        program: "aws-client.ts",
        target: { ...target, bucket: await createTestBucket(swift) },
      });
    }
    const tables: Table[] = [];
    const data: Record<string, Record<string, UploadResult[]>> = {};
    for (const work of await prepareWork(folder)) {
      const results = await runAll(clients, work, rounds);
      tables.push(toTable(work, clients, results));
      data[work.title] = Object.fromEntries(results);
    }
    await Promise.all([upstow.stop(), tus.stop(), swift?.stop()]);
    return {
      tables,
      notes: [
        "Time is measured from the first call to the last response, without loading the library. Libraries run with their defaults; tus-js-client uses parts of 5 MiB.",
        ...(swiftMissing === false ? [] : [`Left out: @aws-sdk/lib-storage, because ${swiftMissing}.`]),
      ],
      data,
    };
  },
};

async function prepareWork(folder: string): Promise<Work[]> {
  const large = join(folder, "large.bin");
  await writeFile(large, randomBytes(200 * mib));
  await mkdir(join(folder, "small"));
  const small = Array.from({ length: 500 }, (_, i) => join(folder, "small", `${i}.bin`));
  for (const path of small) await writeFile(path, randomBytes(20 * 1024));
  return [
    { title: "One file of 200 MiB", unit: "MiB/s", amount: 200, job: { paths: [large], filesAtOnce: 1 } },
    {
      title: "500 files of 20 KiB, 16 at a time",
      unit: "files/s",
      amount: 500,
      job: { paths: small, filesAtOnce: 16 },
    },
  ];
}

/** Each round begins with another client, so that a slow minute of the machine meets all of them. */
async function runAll(clients: Client[], { title, job }: Work, rounds: number) {
  const results = new Map<string, UploadResult[]>(clients.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    process.stderr.write(`  ${title}: ${round < 0 ? "warming up" : `round ${round + 1} of ${rounds}`}\n`);
    for (let i = 0; i < clients.length; i++) {
      const client = clients[(i + round + 1) % clients.length];
      if (client === undefined) continue;
      const result = await runClient(client, { ...job, target: client.target });
      if (round >= 0) results.get(client.name)?.push(result);
    }
  }
  return results;
}

async function runClient({ program }: Client, job: UploadJob): Promise<UploadResult> {
  const path = fileURLToPath(new URL(`../clients/${program}`, import.meta.url));
  const args = ["--disable-warning=ExperimentalWarning", path, JSON.stringify(job)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

function toTable(
  { title, unit, amount }: Work,
  clients: Client[],
  results: Map<string, UploadResult[]>,
): Table {
  const ours = results.get("upstow") ?? [];
  const rateOf = ({ elapsedSec }: UploadResult) => amount / elapsedSec;
  return {
    caption: title,
    columns: ["", unit, "client CPU s", "Upstow's rate beside it", "Upstow's client CPU beside it"],
    rows: clients.map(({ name, label }) => {
      const rounds = results.get(name) ?? [];
      const beside = (part: (result: UploadResult) => number) =>
        formatShare(spreadOf(ours.map((result, i) => part(result) / part(rounds[i] ?? result))));
      return [
        label,
        formatNumber(spreadOf(rounds.map(rateOf)).median),
        formatNumber(spreadOf(rounds.map(({ cpuSec }) => cpuSec)).median),
        name === "upstow" ? "" : beside(rateOf),
        name === "upstow" ? "" : beside(({ cpuSec }) => cpuSec),
      ];
    }),
  };
}
