import { recordAnswer, startFloor } from "../contenders/floor.ts";
import { insertIntoEmbedded, insertIntoPostgres } from "../contenders/many-files.ts";
import { startPostgresServer } from "../contenders/postgres.ts";
import { relaunch, startUpstow, type Upstow } from "../contenders/upstow.ts";
import { compare, requests, toTable } from "../harness/comparison.ts";
import { openConnection } from "../harness/connection.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const defaultCount = 1_000_000;
const pageSize = 100;
const clients = 4;
/** The last page may cost half as much again as the first. */
const target = 1 / 1.5;

interface Page {
  files: { id: string }[];
  nextCursor: string | null;
}

/** Follows every cursor to the end; returns the one that leads to the last page. */
async function walkToLastPage(upstow: Upstow, fileCount: number): Promise<string> {
  const connection = await openConnection(upstow.port);
  let cursor = "";
  let seen = 0;
  let newest = "~";
  for (;;) {
    const query = `limit=${pageSize}${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const { body, status } = await connection.send(
      `GET /api/v1/files?${query} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${upstow.key}\r\n\r\n`,
    );
    if (status !== 200) throw new Error(body.toString());
    const page = JSON.parse(body.toString()) as Page;
    for (const { id } of page.files) {
      if (id >= newest) throw new Error(`${id} came out of order`);
      newest = id;
    }
    seen += page.files.length;
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  connection.close();
  if (seen !== fileCount) throw new Error(`the pages held ${seen} files, not ${fileCount}`);
  return cursor;
}

export const listing: Benchmark = {
  title: `Listing ${pageSize} of ${defaultCount.toLocaleString("en-US")} files, ${clients} clients`,
  async run({ folder, sizes, ...options }) {
    const fileCount = sizes?.[0] ?? defaultCount;
    const shownCount = fileCount.toLocaleString("en-US");
    process.stderr.write(`  putting ${shownCount} files into each database\n`);
    const empty = await startUpstow({ folder });
    await empty.stop();
    insertIntoEmbedded(empty, fileCount);
    const { upstow: embedded } = await relaunch(empty, { folder });
    const database = await startPostgresServer();
    const onPostgres = await startUpstow({ folder, databaseUrl: database.url });
    await insertIntoPostgres(database.url, onPostgres, fileCount);
    const servers = [
      { name: "embedded", label: "embedded database", upstow: embedded, pids: { server: embedded.pid } },
      {
        name: "postgres",
        label: "PostgreSQL",
        upstow: onPostgres,
        pids: { server: onPostgres.pid, database: database.pid },
      },
    ];
    const headers = { authorization: `Bearer ${embedded.key}` };
    const page = await recordAnswer(`${embedded.url}/api/v1/files?limit=${pageSize}`, { headers });
    const floor = await startFloor(folder, page);
    const contenders: Contender[] = [
      {
        name: "bare",
        scenario: "list-files",
        clients,
        target: { port: floor.port, key: embedded.key, query: `limit=${pageSize}` },
        pids: { server: floor.pid },
      },
    ];
    for (const { name, label, upstow, pids } of servers) {
      process.stderr.write(`  walking all pages, ${label}\n`);
      const { port, key } = upstow;
      const cursor = await walkToLastPage(upstow, fileCount);
      // The walk has warmed it up.
      const list = { scenario: "list-files", clients, pids, warmUpOperations: 500 };
      const query = `limit=${pageSize}`;
      contenders.push(
        { name: `${name} first`, ...list, target: { port, key, query } },
        { name: `${name} last`, ...list, target: { port, key, query: `${query}&cursor=${cursor}` } },
      );
    }
    const results = await runRounds(contenders, options);
    await Promise.all([floor.stop(), ...servers.map(({ upstow }) => upstow.stop())]);
    await database.stop();
    const rows = servers.flatMap(({ name, label }) => [
      { label: `${label}, first page`, contender: `${name} first` },
      { label: `${label}, last page`, contender: `${name} last`, against: `${name} first`, target },
    ]);
    const figures = compare(results, rows, requests);
    const besideBare = compare(
      results,
      [
        { label: "bare node:http, the same bytes", contender: "bare" },
        ...servers.map(({ name, label }) => ({
          label: `${label}, first page`,
          contender: `${name} first`,
          against: "bare",
        })),
      ],
      requests,
    );
    return {
      tables: [
        toTable("GET /files", figures, requests, "first page"),
        toTable(`GET /files, ${pageSize} of them`, besideBare, requests, "bare"),
      ],
      notes: [`Before the run, all pages were read: each of ${shownCount} files was listed once, in order.`],
      data: { figures, besideBare },
    };
  },
};
