import { recordAnswer, startFloor } from "../contenders/floor.ts";
import { type Installation, startInstallations } from "../contenders/installations.ts";
import type { NodeServer } from "../contenders/node-server.ts";
import type { Upstow } from "../contenders/upstow.ts";
import { type ComparisonRow, compare, requests, toTable } from "../harness/comparison.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const clients = 32;

interface Operation {
  name: string;
  caption: string;
  scenario: string;
  /** The installations that do it, with the share of the bare server's rate that each is to reach. */
  installations: Readonly<Record<string, number | null>>;
  path(upstow: Upstow): string;
  /** What is sent with POST; a GET without it. */
  body?: object;
}

const operations: readonly Operation[] = [
  {
    name: "read",
    caption: "GET /projects with a key",
    scenario: "list-projects",
    installations: { embedded: 0.5, logging: null, tracing: null, postgres: null },
    path: () => "/api/v1/projects",
  },
  {
    name: "write",
    caption: "POST /projects/:id/routers, then DELETE",
    scenario: "change-routes",
    installations: {
      embedded: 0.35,
      logging: null,
      postgres: null,
      "embedded-slow": null,
      "postgres-slow": null,
    },
    path: ({ projectId }) => `/api/v1/projects/${projectId}/routers`,
    body: { slug: "bench-123456789abc-1000", allowedTypes: ["image/*", "application/pdf"] },
  },
  {
    name: "upload-request",
    caption: "POST /upload/request",
    scenario: "request-upload",
    installations: {
      embedded: 0.35,
      tracing: null,
      postgres: 0.15,
      "postgres-tracing": null,
      "embedded-slow": null,
      "postgres-slow": null,
    },
    path: () => "/api/v1/upload/request",
    body: {
      fileName: "photo-1000000.bin",
      fileSize: 10_240,
      contentType: "application/octet-stream",
      routeSlug: "default",
    },
  },
];

async function startFloorFor(folder: string, operation: Operation, upstow: Upstow): Promise<NodeServer> {
  const answer = await recordAnswer(`${upstow.url}${operation.path(upstow)}`, {
    headers: { authorization: `Bearer ${upstow.key}`, "content-type": "application/json" },
    ...(operation.body === undefined ? {} : { method: "POST", body: JSON.stringify(operation.body) }),
  });
  return startFloor(folder, answer);
}

function pair(operation: Operation, floor: NodeServer, all: readonly Installation[]) {
  const { name, scenario, installations } = operation;
  const bare = `${name} bare`;
  const taking = all.filter((installation) => installation.name in installations);
  const [first] = taking;
  if (first === undefined) throw new Error(`nobody does ${name}`);
  const contenders: Contender[] = [
    {
      name: bare,
      scenario,
      clients,
      target: { ...first.upstow, port: floor.port },
      pids: { server: floor.pid },
    },
  ];
  const rows: ComparisonRow[] = [{ label: "bare node:http", contender: bare }];
  for (const { name: installation, label, upstow, pids } of taking) {
    const contender = `${name} ${installation}`;
    const target = installations[installation] ?? undefined;
    contenders.push({ name: contender, scenario, clients, target: { ...upstow }, pids });
    rows.push({ label, contender, against: bare, ...(target === undefined ? {} : { target }) });
  }
  return { contenders, rows };
}

export const controlPlane: Benchmark = {
  title: `API calls with ${clients} clients beside a bare node:http server that answers the same bytes`,
  async run({ folder, ...options }) {
    const { all, embedded, notes, stop } = await startInstallations(folder);
    const measured = [];
    for (const operation of operations) {
      const floor = await startFloorFor(folder, operation, embedded.upstow);
      measured.push({ operation, floor, ...pair(operation, floor, all) });
    }
    const results = await runRounds(
      measured.flatMap(({ contenders }) => contenders),
      options,
    );
    await Promise.all([stop(), ...measured.map(({ floor }) => floor.stop())]);
    const compared = measured.map(({ operation, rows }) => ({
      ...operation,
      figures: compare(results, rows, requests),
    }));
    return {
      tables: compared.map(({ caption, figures }) => toTable(caption, figures, requests, "bare")),
      notes,
      data: Object.fromEntries(compared.map(({ name, figures }) => [name, figures])),
    };
  },
};
