import assert from "node:assert/strict";
import type { AuditAction, AuthorKind } from "@upstow/contract";
import type { AuditRow } from "../../src/db/account-schema.ts";
import { statement } from "../../src/db/statement.ts";
import type { TestApp } from "./start-app.ts";

const listAudit = statement((q, p: { after: string }) =>
  q.selectFrom("audit").selectAll().where("id", ">", p.after).orderBy("id"),
);
const findLast = statement((q, _: object) =>
  q.selectFrom("audit").select("id").orderBy("id", "desc").limit(1),
);

/** Everything in it, the oldest first. */
export const listTrail = (app: TestApp): Promise<AuditRow[]> => app.app.deps.db.all(listAudit, { after: "" });

/** Who moved the installation, and how far, such as "operator: copying". */
export async function listMoves(app: TestApp): Promise<string[]> {
  const rows = (await listTrail(app)).filter(({ action }) => /^installation\..*-moved$/.test(action));
  return rows.map((row) => `${row.author_kind}: ${JSON.parse(row.changes).state.to}`);
}

/** What the audit trail says about a piece of work. */
export async function readTrail(app: TestApp, work: () => Promise<unknown>): Promise<AuditRow[]> {
  const { db } = app.app.deps;
  const last = await db.get(findLast, {});
  await work();
  return db.all(listAudit, { after: last?.id ?? "" });
}

/** The work leaves such an entry. */
export async function expectRecorded(
  app: TestApp,
  { action, by }: { action: AuditAction; by: AuthorKind },
  work: () => Promise<unknown>,
): Promise<AuditRow> {
  const rows = await readTrail(app, work);
  const found = rows.find((row) => row.action === action && row.author_kind === by);
  const told = rows.map((row) => `${row.action} by ${row.author_kind}`).join(", ") || "nothing";
  if (found === undefined) assert.fail(`${action} by ${by} was expected, and ${told} recorded`);
  return found;
}
