import { hash } from "node:crypto";
import { requestUpload } from "../contenders/stored-files.ts";
import { startTus } from "../contenders/tus.ts";
import { startUpstow } from "../contenders/upstow.ts";
import { compare, toTable, transferOf, type Unit } from "../harness/comparison.ts";
import { formatNumber } from "../harness/format.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const mebibytes = 100;
const largeBytes = mebibytes * 1024 * 1024;
const smallBytes = 20 * 1024;
const smallClients = 16;
const uploads: Unit = { rate: "uploads/s", perOperation: 1, cost: "CPU µs/upload", costPerSec: 1e6 };

export const tusUploads: Benchmark = {
  title: "Uploads by tus, beside @tus/server",
  async run({ folder, ...options }) {
    const upstow = await startUpstow({ folder });
    const tus = await startTus(folder);
    const { uploadPath } = await requestUpload(upstow, largeBytes);
    const ours = { port: upstow.port, path: "/tus", key: upstow.key };
    const theirs = { port: tus.port, path: tus.path };
    const pids = { server: upstow.pid };
    const tusPids = { server: tus.pid };
    const large = { clients: 1, warmUpOperations: 20 };
    const byTus = { scenario: "tus-upload" };
    const largeOnes: Contender[] = [
      {
        name: "tus",
        ...byTus,
        ...large,
        target: { ...theirs, sizeBytes: largeBytes, removes: "tus" },
        pids: tusPids,
      },
      {
        name: "upstow",
        ...byTus,
        ...large,
        target: { ...ours, sizeBytes: largeBytes, removes: "api" },
        pids,
      },
      {
        name: "put",
        scenario: "put-bytes",
        ...large,
        target: { port: upstow.port, paths: [uploadPath], sizeBytes: largeBytes },
        pids,
      },
    ];
    const small = { ...byTus, clients: smallClients };
    const smallOnes: Contender[] = [
      { name: "tus", ...small, target: { ...theirs, sizeBytes: smallBytes }, pids: tusPids },
      { name: "upstow", ...small, target: { ...ours, sizeBytes: smallBytes }, pids },
    ];
    const largeResults = await runRounds(largeOnes, options);
    const smallResults = await runRounds(smallOnes, options);
    await Promise.all([upstow.stop(), tus.stop()]);
    const rows = [
      { label: "@tus/server, file store: no checksum, no fsync", contender: "tus" },
      { label: "Upstow by tus: SHA-256 and fsync", contender: "upstow", against: "tus", target: 1.2 },
    ];
    const inMib = transferOf(mebibytes);
    const transfers = compare(
      largeResults,
      [...rows, { label: "Upstow by PUT: SHA-256 and fsync", contender: "put", against: "tus" }],
      inMib,
    );
    const files = compare(smallResults, rows, uploads);
    return {
      tables: [
        toTable(`One file of ${mebibytes} MiB, one client`, transfers, inMib, "@tus/server"),
        toTable(`Files of 20 KiB, ${smallClients} clients`, files, uploads, "@tus/server"),
      ],
      notes: [
        "An upload with tus is a creation and one PATCH. Large ones are then deleted, which is included; a PUT always writes the same file.",
        `SHA-256 alone takes this processor ${formatNumber(hashingSecPerGib())} s per GiB; those with instructions for it need about 0.5 s.`,
      ],
      data: { transfers, files },
    };
  },
};

/** Which @tus/server does not spend. */
function hashingSecPerGib(): number {
  const bytes = Buffer.alloc(64 * 1024 * 1024, 1);
  const before = process.cpuUsage();
  for (let i = 0; i < 4; i++) hash("sha256", bytes);
  return (process.cpuUsage(before).user / 1e6) * 4;
}
