import { recordAnswer, startFloor } from "../contenders/floor.ts";
import { startPostgresServer } from "../contenders/postgres.ts";
import { storeFile } from "../contenders/stored-files.ts";
import { startUpstow } from "../contenders/upstow.ts";
import { formatExtent } from "../harness/format.ts";
import { cpuUsPerOperation, ratePerSec, toGrowth } from "../harness/growth.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const defaultSizes = [1, 2, 4, 8, 16, 32, 64];
const sizeBytes = 10 * 1024;

type Work = Pick<Contender, "scenario" | "target" | "pids"> & { label: string };

export const growthClients: Benchmark = {
  title: "How rate and cost grow with the number of clients",
  async run({ folder, rounds, seconds, sizes }) {
    // There are many points to measure.
    const eachSec = seconds / 2;
    const amounts = sizes ?? defaultSizes;
    const server = await startPostgresServer();
    const embedded = await startUpstow({ folder });
    const onPostgres = await startUpstow({ folder, databaseUrl: server.url });
    const { port, key } = embedded;
    const authorization = { authorization: `Bearer ${key}` };
    const answer = await recordAnswer(`${embedded.url}/api/v1/projects`, { headers: authorization });
    const floor = await startFloor(folder, answer);
    const pids = { server: embedded.pid };
    const works: Work[] = [
      {
        label: "bare node:http, GET",
        scenario: "list-projects",
        target: { port: floor.port, key },
        pids: { server: floor.pid },
      },
      { label: "GET /projects", scenario: "list-projects", target: { port, key }, pids },
      {
        label: "GET /f/… of 10 KiB",
        scenario: "get-file",
        target: { port, paths: [await storeFile(embedded, sizeBytes)], sizeBytes },
        pids,
      },
      { label: "upload request", scenario: "request-upload", target: { port, key }, pids },
      {
        label: "upload request, PostgreSQL",
        scenario: "request-upload",
        target: { port: onPostgres.port, key: onPostgres.key },
        pids: { server: onPostgres.pid, database: server.pid },
      },
      { label: "whole upload of 10 KiB", scenario: "upload-file", target: { port, key, sizeBytes }, pids },
    ];
    const largest = Math.max(...amounts);
    const contenders = works.flatMap(({ label, ...work }) =>
      amounts.map((clients) => ({
        ...work,
        name: `${label}, ${clients}`,
        clients,
        // All amounts ask the same server: the largest warms it up for the others.
        warmUpOperations: clients === largest ? 5000 : 1,
      })),
    );
    const results = await runRounds(contenders.reverse(), { rounds, seconds: eachSec });
    await Promise.all([embedded.stop(), onPostgres.stop(), floor.stop()]);
    await server.stop();
    const lines = works.map(({ label }) => ({
      label,
      steps: amounts.map((clients) => results.get(`${label}, ${clients}`) ?? []),
    }));
    const axis = { xLabel: "clients", xTicks: amounts.map(String) };
    const views = [
      toGrowth(
        {
          ...axis,
          name: "growth-clients-rate",
          title: "Rate by number of clients",
          yLabel: "a second",
          value: ratePerSec,
        },
        lines,
      ),
      toGrowth(
        {
          ...axis,
          name: "growth-clients-cpu",
          title: "Cost by number of clients",
          yLabel: "CPU µs each, database included",
          value: cpuUsPerOperation,
        },
        lines,
      ),
      toGrowth(
        {
          ...axis,
          name: "growth-clients-wait",
          title: "Slowest of a hundred by number of clients",
          yLabel: "p99 ms",
          value: ({ p99Ms }) => p99Ms,
        },
        lines,
      ),
    ];
    return {
      tables: views.map(({ table }) => table),
      charts: views.map(({ chart }) => chart),
      extent: formatExtent(rounds, eachSec),
      notes: ["Embedded database unless stated otherwise. The clients run on the same machine."],
      data: Object.fromEntries(results),
    };
  },
};
