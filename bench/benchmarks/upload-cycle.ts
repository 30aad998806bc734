import { startNodeServer } from "../contenders/node-server.ts";
import { startTus } from "../contenders/tus.ts";
import { startUpstow } from "../contenders/upstow.ts";
import { compare, toTable, type Unit } from "../harness/comparison.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";
import { findSlowFsync } from "../harness/slow-fsync.ts";

const clients = 32;
const sizeBytes = 10 * 1024;
/** Both servers become faster by another tenth after the first 5,000. */
const warmUpOperations = 20_000;
const filesPerBatch = 100;
const uploads: Unit = { rate: "uploads/s", perOperation: 1, cost: "CPU µs/upload", costPerSec: 1e6 };

export const uploadCycle: Benchmark = {
  title: `Whole uploads of 10 KiB with ${clients} clients`,
  async run({ folder, ...options }) {
    const upstow = await startUpstow({ folder });
    const slowly = findSlowFsync(folder);
    const slow = slowly === null ? null : await startUpstow({ folder, env: slowly });
    const tus = await startTus(folder);
    const rows = await startNodeServer(folder, "row-server");
    const contenders: Contender[] = [
      {
        name: "tus",
        scenario: "tus-upload",
        clients,
        warmUpOperations,
        target: { port: tus.port, path: tus.path, sizeBytes },
        pids: { server: tus.pid },
      },
    ];
    for (const [name, server] of Object.entries({ upstow, slow, rows: { ...rows, key: "" } })) {
      if (server === null) continue;
      contenders.push({
        name,
        scenario: "upload-file",
        clients,
        warmUpOperations,
        target: { port: server.port, key: server.key, sizeBytes },
        pids: { server: server.pid },
      });
    }
    contenders.push({
      name: "batches",
      scenario: "upload-batch",
      clients,
      warmUpOperations: warmUpOperations / filesPerBatch,
      target: { port: upstow.port, key: upstow.key, sizeBytes, files: filesPerBatch },
      pids: { server: upstow.pid },
    });
    const results = await runRounds(contenders, options);
    await Promise.all([upstow.stop(), slow?.stop(), tus.stop(), rows.stop()]);
    const figures = compare(
      results,
      [
        { label: "@tus/server, file store: creation + PATCH, no fsync", contender: "tus" },
        {
          label: "Upstow: request + PUT + complete, with fsync",
          contender: "upstow",
          against: "tus",
          target: 2,
          targetRate: 800,
        },
        ...(slow === null ? [] : [{ label: "Upstow, fsync of 1 ms", contender: "slow", against: "tus" }]),
        {
          label: "the floor: three bare calls of node:http and node:sqlite, a row each, with fsync",
          contender: "rows",
          against: "tus",
        },
      ],
      uploads,
    );
    // An operation of the load client is a whole batch.
    const batches = results.get("batches")?.map((result) => ({
      ...result,
      operations: result.operations * filesPerBatch,
    }));
    const together = compare(
      new Map([...results, ["batches", batches ?? []]]),
      [
        { label: "one by one: request + PUT + complete", contender: "upstow" },
        {
          label: `${filesPerBatch} files in batches: one request, a PUT each, one complete`,
          contender: "batches",
          against: "upstow",
          target: 1.5,
        },
      ],
      uploads,
    );
    return {
      tables: [
        toTable("Whole uploads, embedded database and disk store", figures, uploads, "tus"),
        toTable(
          "Batches beside single calls; the p99 of a batch is for all its files",
          together,
          uploads,
          "one by one",
        ),
      ],
      notes: [
        ...(slow === null
          ? ["Left out, for want of a C compiler (cc): the run with fsync slowed to 1 ms."]
          : []),
      ],
      data: [...figures, ...together],
    };
  },
};
