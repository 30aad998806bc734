import { availableParallelism } from "node:os";
import { startPostgresServer } from "../contenders/postgres.ts";
import { joinUpstow, startUpstow, type Upstow } from "../contenders/upstow.ts";
import { ratePerSec, toGrowth } from "../harness/growth.ts";
import type { LoadResult } from "../harness/load-job.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const defaultSizes = [1, 2, 3, 4];
const clients = 32;
const env = { UPSTOW_SECRET: "the secret that all instances of this benchmark share" };
const works = [
  { label: "GET /projects", scenario: "list-projects" },
  { label: "upload request", scenario: "request-upload" },
];

export const growthInstances: Benchmark = {
  title: "How rate and cost grow with the number of instances over one PostgreSQL",
  async run({ folder, sizes, ...options }) {
    const amounts = sizes ?? defaultSizes;
    const server = await startPostgresServer();
    const shared = { folder, databaseUrl: server.url, env };
    const first = await startUpstow(shared);
    const instances: Pick<Upstow, "port" | "pid" | "stop">[] = [first];
    while (instances.length < Math.max(...amounts)) instances.push(await joinUpstow(shared));
    const contenders = works.flatMap(({ label, scenario }) =>
      amounts.map((count): Contender => {
        const taking = instances.slice(0, count);
        return {
          name: `${label}, ${count}`,
          scenario,
          clients,
          target: { port: first.port, ports: taking.map(({ port }) => port), key: first.key },
          pids: { server: taking.map(({ pid }) => pid), database: server.pid },
        };
      }),
    );
    // The most instances first, so that all are warm.
    const results = await runRounds(contenders.reverse(), options);
    await Promise.all(instances.map((instance) => instance.stop()));
    await server.stop();
    const lines = works.map(({ label }) => ({
      label,
      steps: amounts.map((count) => results.get(`${label}, ${count}`) ?? []),
    }));
    const axis = { xLabel: "instances", xTicks: amounts.map(String) };
    const cpu =
      (role: string) =>
      ({ cpuSec, operations }: LoadResult) =>
        ((cpuSec[role] ?? 0) * 1e6) / operations;
    const views = [
      toGrowth(
        {
          ...axis,
          name: "growth-instances-rate",
          title: "Rate by number of instances",
          yLabel: "requests/s",
          value: ratePerSec,
        },
        lines,
      ),
      toGrowth(
        {
          ...axis,
          name: "growth-instances-cpu",
          title: "Cost by number of instances, all of them together",
          yLabel: "CPU µs/request of the service",
          value: cpu("server"),
        },
        lines,
      ),
      toGrowth(
        {
          ...axis,
          name: "growth-instances-database",
          title: "Cost by number of instances, in the database",
          yLabel: "CPU µs/request of PostgreSQL",
          value: cpu("database"),
        },
        lines,
      ),
    ];
    return {
      tables: views.map(({ table }) => table),
      charts: views.slice(0, 2).map(({ chart }) => chart),
      notes: [
        `${clients} clients. Instances, PostgreSQL and clients share ${availableParallelism()} cores, so the rate cannot grow with the instances once these are busy; what one request costs says what more cores would bring.`,
      ],
      data: Object.fromEntries(results),
    };
  },
};
