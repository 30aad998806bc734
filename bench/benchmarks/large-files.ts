import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findNginx, sendfileSettings } from "../contenders/nginx.ts";
import { startNodeServer } from "../contenders/node-server.ts";
import { requestUpload, storeFile } from "../contenders/stored-files.ts";
import { startUpstow } from "../contenders/upstow.ts";
import { compare, toTable, transferOf } from "../harness/comparison.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const mebibytes = 100;
const sizeBytes = mebibytes * 1024 * 1024;
const warmUpOperations = 20;
const unit = transferOf(mebibytes);

export const largeFiles: Benchmark = {
  title: `Files of ${mebibytes} MiB, one client, beside nginx`,
  async run({ folder, ...options }) {
    const upstow = await startUpstow({ folder });
    const behind = await startUpstow({ folder, env: sendfileSettings });
    const nginx = await findNginx(folder, { port: behind.port, objectsDir: join(behind.dataDir, "objects") });
    const streams = await startNodeServer(folder, "stream-server");
    await writeFile(join(streams.directory, "stored"), randomBytes(sizeBytes));
    const pids = { server: upstow.pid };
    const plain = { server: streams.pid };
    const { uploadPath } = await requestUpload(upstow, sizeBytes);
    const put = { scenario: "put-bytes", clients: 1, warmUpOperations };
    const get = { scenario: "get-file", clients: 1, warmUpOperations };
    const contenders: Contender[] = [
      { name: "put", ...put, target: { port: upstow.port, paths: [uploadPath], sizeBytes }, pids },
      {
        name: "get",
        ...get,
        target: { port: upstow.port, paths: [await storeFile(upstow, sizeBytes)], sizeBytes },
        pids,
      },
      {
        name: "streams put",
        ...put,
        target: { port: streams.port, paths: ["/put"], sizeBytes },
        pids: plain,
      },
      {
        name: "streams get",
        ...get,
        target: { port: streams.port, paths: ["/stored"], sizeBytes },
        pids: plain,
      },
    ];
    if (nginx !== null) {
      await writeFile(join(nginx.filesDir, "stored"), randomBytes(sizeBytes));
      const { port, pid } = nginx;
      contenders.push(
        { name: "nginx put", ...put, target: { port, paths: ["/put"], sizeBytes }, pids: { server: pid } },
        { name: "nginx get", ...get, target: { port, paths: ["/stored"], sizeBytes }, pids: { server: pid } },
        {
          name: "accel",
          ...get,
          target: { port, paths: [await storeFile(behind, sizeBytes)], sizeBytes },
          pids: { server: behind.pid, proxy: pid },
        },
      );
    }
    const results = await runRounds(contenders, options);
    await Promise.all([upstow.stop(), behind.stop(), streams.stop(), nginx?.stop()]);
    const against = (name: string, label: string) => (nginx === null ? [] : [{ label, contender: name }]);
    const share = (name: string, target: number) => (nginx === null ? {} : { against: name, target });
    const beside = (name: string) => (nginx === null ? {} : { against: name });
    const puts = compare(
      results,
      [
        ...against("nginx put", "nginx dav: no checksum, no fsync"),
        { label: "Upstow: SHA-256 and fsync", contender: "put", ...share("nginx put", 0.55) },
        { label: "plain streams of Node", contender: "streams put", ...beside("nginx put") },
      ],
      unit,
    );
    const gets = compare(
      results,
      [
        ...against("nginx get", "nginx sendfile"),
        { label: "Upstow", contender: "get", ...share("nginx get", 0.5) },
        { label: "plain streams of Node", contender: "streams get", ...beside("nginx get") },
        ...against("accel", "Upstow behind nginx (X-Accel-Redirect)").map((row) => ({
          ...row,
          against: "nginx get",
        })),
      ],
      unit,
    );
    return {
      tables: [
        toTable(`PUT of ${mebibytes} MiB`, puts, unit, "nginx"),
        toTable(`GET of ${mebibytes} MiB`, gets, unit, "nginx"),
      ],
      notes: nginx === null ? ["Left out, because nginx is not installed here: nginx."] : [],
      data: { puts, gets },
    };
  },
};
