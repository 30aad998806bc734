import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { recordAnswer, startFloor } from "../contenders/floor.ts";
import { findNginx, sendfileSettings } from "../contenders/nginx.ts";
import { storeFile } from "../contenders/stored-files.ts";
import { startUpstow, type Upstow } from "../contenders/upstow.ts";
import { compare, requests, toTable } from "../harness/comparison.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const clients = 32;
const sizeBytes = 10 * 1024;
const fewFiles = 100;
/** More than the server keeps in memory, so that every read goes to a file (and the kernel's cache). */
const manyFiles = 4000;

const nginxRows = [
  { label: `Upstow behind nginx (X-Accel-Redirect), ${fewFiles} files`, contender: "accel", against: "bare" },
  { label: "nginx, one file", contender: "nginx", against: "bare" },
];

async function storeFiles(upstow: Upstow, count: number): Promise<string[]> {
  const paths: string[] = [];
  while (paths.length < count) {
    const batch = Array.from({ length: 50 }, () => storeFile(upstow, sizeBytes));
    paths.push(...(await Promise.all(batch)));
  }
  return paths;
}

export const smallFiles: Benchmark = {
  title: `Reading files of 10 KiB with ${clients} clients`,
  async run({ folder, ...options }) {
    const upstow = await startUpstow({ folder });
    const behind = await startUpstow({ folder, env: sendfileSettings });
    const paths = await storeFiles(upstow, manyFiles);
    const few = paths.slice(0, fewFiles);
    const fewBehind = await storeFiles(behind, fewFiles);
    const floor = await startFloor(folder, await recordAnswer(`${upstow.url}${few[0]}`, {}));
    const nginx = await findNginx(folder, { port: behind.port, objectsDir: join(behind.dataDir, "objects") });
    const get = { scenario: "get-file", clients };
    const pids = { server: upstow.pid };
    const contenders: Contender[] = [
      {
        name: "bare",
        ...get,
        target: { port: floor.port, paths: few, sizeBytes },
        pids: { server: floor.pid },
      },
      { name: "few", ...get, target: { port: upstow.port, paths: few, sizeBytes }, pids },
      { name: "many", ...get, target: { port: upstow.port, paths, sizeBytes }, pids },
    ];
    if (nginx !== null) {
      await writeFile(join(nginx.filesDir, "small"), randomBytes(sizeBytes));
      const { port, pid } = nginx;
      contenders.push(
        { name: "nginx", ...get, target: { port, paths: ["/small"], sizeBytes }, pids: { server: pid } },
        {
          name: "accel",
          ...get,
          target: { port, paths: fewBehind, sizeBytes },
          pids: { server: behind.pid, proxy: pid },
        },
      );
    }
    const results = await runRounds(contenders, options);
    await Promise.all([upstow.stop(), behind.stop(), floor.stop(), nginx?.stop()]);
    const figures = compare(
      results,
      [
        { label: "bare node:http, from memory", contender: "bare" },
        { label: `Upstow, ${fewFiles} files`, contender: "few", against: "bare", target: 0.6 },
        { label: `Upstow, ${manyFiles} files`, contender: "many", against: "bare" },
        ...(nginx === null ? [] : nginxRows),
      ],
      requests,
    );
    return {
      tables: [toTable("GET /f/…", figures, requests, "bare")],
      notes: nginx === null ? ["Left out, because nginx is not installed here: nginx."] : [],
      data: figures,
    };
  },
};
