import { findDirectus, storeInDirectus } from "../contenders/directus.ts";
import { directusVersion } from "../contenders/directus-package.ts";
import { createDatabase, startPostgresServer } from "../contenders/postgres.ts";
import { storeFile } from "../contenders/stored-files.ts";
import { startUpstow } from "../contenders/upstow.ts";
import { compare, requests, toTable, type Unit } from "../harness/comparison.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const clients = 16;
const sizeBytes = 10 * 1024;
const pageSize = 100;
const uploads: Unit = { ...requests, rate: "uploads/s", cost: "CPU µs/upload" };
const works = [
  { label: "Whole uploads of 10 KiB", unit: uploads },
  { label: "Reading a file of 10 KiB", unit: requests },
  { label: `Listing ${pageSize} files, the newest first`, unit: requests },
];

export const directus: Benchmark = {
  title: `Beside Directus ${directusVersion}, both on PostgreSQL and the disk, ${clients} clients`,
  async run({ folder, ...options }) {
    const server = await startPostgresServer();
    const peer = await findDirectus(folder, await createDatabase(server.url, "directus"));
    if (peer === null) {
      await server.stop();
      return { tables: [], notes: ["Left out: directus cannot be installed here."], data: null };
    }
    const upstow = await startUpstow({ folder, databaseUrl: await createDatabase(server.url, "upstow") });
    const [ours, theirs] = [
      { port: upstow.port, key: upstow.key },
      { port: peer.port, key: peer.key },
    ];
    const [ourPaths, theirPaths]: string[][] = [[], []];
    for (let i = 0; i < pageSize; i++) {
      ourPaths?.push(await storeFile(upstow, sizeBytes));
      theirPaths?.push(await storeInDirectus(peer, sizeBytes));
    }
    const upload = [
      { scenario: "upload-file", target: { ...ours, sizeBytes } },
      { scenario: "directus-upload", target: { ...theirs, sizeBytes } },
    ];
    const read = [
      { scenario: "get-file", target: { ...ours, paths: ourPaths, sizeBytes } },
      { scenario: "get-file", target: { ...theirs, paths: theirPaths, sizeBytes } },
    ];
    const list = [
      { scenario: "list-files", target: { ...ours, query: `limit=${pageSize}` } },
      {
        scenario: "list-files",
        target: { ...theirs, path: "/files", query: `limit=${pageSize}&sort=-uploaded_on` },
      },
    ];
    const pids = [upstow.pid, peer.pid];
    const contenders = [upload, read, list].flatMap((sides, work) =>
      sides.map(
        (side, i): Contender => ({
          ...side,
          name: `${works[work]?.label}, ${i === 0 ? "upstow" : "directus"}`,
          clients,
          pids: { server: pids[i] ?? 0, database: server.pid },
          warmUpOperations: 1000,
        }),
      ),
    );
    const results = await runRounds(contenders, options);
    await Promise.all([upstow.stop(), peer.stop()]);
    await server.stop();
    const compared = works.map(({ label, unit }) => {
      const [own, other] = [`${label}, upstow`, `${label}, directus`];
      const rows = [
        { label: `Directus ${directusVersion}`, contender: other },
        { label: "Upstow", contender: own, against: other },
      ];
      return { label, unit, figures: compare(results, rows, unit) };
    });
    return {
      tables: compared.map(({ label, unit, figures }) => toTable(label, figures, unit, "Directus")),
      notes: [
        "Upstow requests a URL, PUTs and completes, and responds when the bytes are on disk (fsync); Directus accepts one form and does not wait for the disk.",
        "Directus runs with isolated-vm 7.0.1 instead of the 5.0.3 that it names, which has no build for Node 24. Its pressure limiter is off, which would refuse requests; its cache is off as it comes.",
      ],
      data: compared.map(({ label, figures }) => ({ label, figures })),
    };
  },
};
