import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { RATE_LIMITS, TIERS } from "@upstow/contract";
import { statement } from "../packages/server/src/db/statement.ts";
import { periodRows, totalRows } from "../packages/server/src/projects/usage/shares.ts";
import type { DatabaseKind } from "../packages/server/test/support/start-app.ts";
import { onBothDatabases } from "./both-databases.ts";
import type { AttackReport } from "./hostile/attacker.ts";
import { roles, startAttack } from "./hostile/start-attack.ts";
import { createTenant, type TenantAccess } from "./hostile/tenant.ts";
import { createVictim, kinds, percentile, type Samples } from "./hostile/victim.ts";
import { createInstallation, type Installation } from "./installation.ts";
import { type Outcome, type RunOptions, sumUp } from "./scenario.ts";

const mostSlowdown = 3;
const mostMemoryMib = 512;
/** All keys of an account together, in windows of a key. */
const keysWorth = 20;
const keysPerHour = 60;
/** Idle measuring takes this share of the attack's time, but never less than the second figure. */
const idleShare = 0.2;
const leastIdleSec = 15;

/** Hostile accounts do all they can while an honest one goes on working. A round is a second of the attack. */
export const hostileTenant = onBothDatabases("seconds", attackFor);

async function attackFor({ rounds, onRound }: RunOptions, database: DatabaseKind): Promise<Outcome> {
  const installation = await createInstallation(
    {
      UPSTOW_STORAGE_ALLOW_CIDRS: "127.0.0.0/8",
      UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
      UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8",
    },
    undefined,
    database,
  );
  const violations: string[] = [];
  try {
    const server = await installation.start();
    const victim = await createVictim(installation);
    const idleSec = Math.max(leastIdleSec, Math.round(rounds * idleShare));
    const idle = await victim.run(until(idleSec), violations);
    const tenants = await Promise.all(
      roles.map(async (role) => ({ role, access: await createTenant(installation, role) })),
    );
    const attack = startAttack({ tenants, seconds: rounds });
    const memory = watchMemory(server.pid);
    const attacked = victim.run(until(rounds), violations);
    for (let round = 1; round <= rounds; round++) {
      await wait(1_000);
      onRound(round, {
        ...sumUp(attack.reports().map(({ answers }) => answers)),
        "memory now (MiB)": memory.most(),
      });
    }
    const during = await attacked;
    await attack.ended;
    memory.stop();
    const reports = attack.reports();
    violations.push(...reports.flatMap(({ faults }) => faults));
    violations.push(...judgeTimes(idle, during), ...judgeMemory(memory.most()));
    violations.push(...judgeRates(reports, rounds));
    violations.push(
      ...(await judgeQuotas(
        installation,
        tenants.map(({ access }) => access),
      )),
    );
    await server.stop();
    return {
      counts: {
        ...describeTimes(database, idle, during),
        [`most memory of the service on ${database} (MiB)`]: memory.most(),
        ...sumUp(reports.map(({ answers }) => answers)),
      },
      violations,
    };
  } finally {
    await installation.remove();
  }
}

function until(seconds: number): () => boolean {
  const endsMs = Date.now() + seconds * 1_000;
  return () => Date.now() > endsMs;
}

function describeTimes(database: DatabaseKind, idle: Samples, during: Samples): Record<string, number> {
  const rows = kinds.flatMap((kind): [string, number][] => [
    [`${kind} on ${database}, measured`, during[kind].length],
    [`${kind} on ${database}, p99 idle (ms)`, Math.round(percentile(idle[kind], 0.99))],
    [`${kind} on ${database}, p99 attacked (ms)`, Math.round(percentile(during[kind], 0.99))],
  ]);
  return Object.fromEntries(rows);
}

function judgeTimes(idle: Samples, during: Samples): string[] {
  return kinds.flatMap((kind) => {
    const [before, meanwhile] = [percentile(idle[kind], 0.99), percentile(during[kind], 0.99)];
    if (meanwhile <= before * mostSlowdown) return [];
    return [`p99 of ${kind}: ${meanwhile.toFixed(1)} ms under attack, ${before.toFixed(1)} ms without`];
  });
}

function judgeMemory(mostMib: number): string[] {
  return mostMib > mostMemoryMib ? [`the service took ${mostMib} MiB`] : [];
}

/** Windows begin with their first call, so that one more than whole minutes may have been open. */
function judgeRates(reports: AttackReport[], seconds: number): string[] {
  const windows = Math.ceil(seconds / 60) + 1;
  const granted = reports[0]?.answers["upload requests granted by key"] ?? 0;
  const keysMade = reports[0]?.answers["keys created"] ?? 0;
  return [
    ...(granted > windows * RATE_LIMITS.upload * keysWorth
      ? [`${granted} requests were granted to keys`]
      : []),
    ...(keysMade > keysPerHour ? [`${keysMade} keys were made within the hour`] : []),
  ];
}

const sumUsage = statement((q, p: { accountId: string }, dialect) =>
  q
    .selectFrom(totalRows(dialect).as("total"))
    .innerJoin("project", "project.id", "total.project_id")
    .where("project.account_id", "=", p.accountId)
    .where("total.environment", "=", "live")
    .select((e) => [
      e.fn.sum<number | null>("total.stored_bytes").as("stored"),
      e.fn.sum<number | null>("total.reserved_bytes").as("reserved"),
    ]),
);
const sumUploads = statement((q, p: { accountId: string }, dialect) =>
  q
    .selectFrom(periodRows(dialect).as("month"))
    .innerJoin("project", "project.id", "month.project_id")
    .where("project.account_id", "=", p.accountId)
    .where("month.environment", "=", "live")
    .select((e) => [
      e.fn.sum<number | null>("month.uploads").as("uploads"),
      e.fn.sum<number | null>("month.reserved_uploads").as("reserved"),
    ]),
);

async function judgeQuotas(installation: Installation, tenants: TenantAccess[]): Promise<string[]> {
  return installation.withDatabase(async (db) => {
    const broken: string[] = [];
    for (const { accountId, tier } of tenants) {
      if (tier !== "free") continue;
      const { storageBytes, uploadsPerMonth, projects } = TIERS.free;
      const [bytes, uploads] = [
        await db.get(sumUsage, { accountId }),
        await db.get(sumUploads, { accountId }),
      ];
      const usedBytes = Number(bytes?.stored ?? 0) + Number(bytes?.reserved ?? 0);
      const usedUploads = Number(uploads?.uploads ?? 0) + Number(uploads?.reserved ?? 0);
      if (usedBytes > (storageBytes ?? 0) * (projects ?? 0))
        broken.push(`a Free account holds ${usedBytes} bytes`);
      if (usedUploads > (uploadsPerMonth ?? 0) * (projects ?? 0))
        broken.push(`a Free account made ${usedUploads} uploads`);
    }
    return broken;
  });
}

/** The service itself; its renderers have limits of their own. */
function watchMemory(pid: number) {
  let mostMib = 0;
  const timer = setInterval(async () => {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    mostMib = Math.max(mostMib, Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024));
  }, 500);
  return { most: () => mostMib, stop: () => clearInterval(timer) };
}
