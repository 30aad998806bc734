import type { AuditAction, AuditEntry } from "@upstow/contract";
import type { QueryCreator } from "#kysely";
import type { AuditRow } from "../../db/account-schema.ts";
import type { Database } from "../../db/database.ts";
import { inSteps } from "../../db/job-leases.ts";
import type { Schema } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import type { FairTurns } from "../../kernel/fair-turns.ts";
import { firstIdAt } from "../../kernel/ids.ts";
import { isoTime } from "../../kernel/iso-time.ts";

interface Stretch {
  from: string;
  before: string;
  take: number;
}

const between = (q: QueryCreator<Schema>, p: Stretch) =>
  q
    .selectFrom("audit")
    .selectAll()
    .where("id", "<", p.before)
    .where("id", ">=", p.from)
    .orderBy("id", "desc");

const listAll = statement((q, p: Stretch) => between(q, p).limit(p.take));
const listOfProject = statement((q, p: Stretch & { projectId: string }) =>
  between(q, p).where("project_id", "=", p.projectId).limit(p.take),
);
const listOfAccount = statement((q, p: Stretch & { accountId: string }) =>
  between(q, p).where("account_id", "=", p.accountId).limit(p.take),
);

/** Whose entries: a project's, an account's, or all of the installation. */
export type TrailScope = { projectId: string } | { accountId: string } | "all";

export interface TrailFilter {
  from: string;
  before: string;
  /** Text anywhere in the author's name, or their id. */
  author?: string | undefined;
  action?: AuditAction | undefined;
}

/** A few milliseconds on SQLite, which reads on our own thread. */
const batchSize = 200;

/** Where the trail is, and for whom it is read: readers of a service take turns, batch by batch. */
export interface TrailReader {
  db: Database;
  turns: FairTurns;
  accountId: string;
}

/** The newest first, in batches of matching entries; a batch may have none. Holds one batch at a time. */
async function* readTrail(
  { db, turns, accountId }: TrailReader,
  scope: TrailScope,
  filter: TrailFilter,
): AsyncGenerator<{ rows: AuditRow[]; scannedTo: string }> {
  for (let { before } = filter; ; ) {
    const stretch = { from: filter.from, before, take: batchSize };
    const rows = await turns.take(accountId, () => readStretch(db, scope, stretch));
    const last = rows.at(-1);
    if (last === undefined) return;
    yield { rows: rows.filter((row) => matches(row, filter)), scannedTo: last.id };
    if (rows.length < batchSize) return;
    before = last.id;
  }
}

function readStretch(db: Database, scope: TrailScope, stretch: Stretch): Promise<AuditRow[]> {
  if (scope === "all") return db.all(listAll, stretch);
  return "projectId" in scope
    ? db.all(listOfProject, { ...stretch, ...scope })
    : db.all(listOfAccount, { ...stretch, ...scope });
}

function matches(row: AuditRow, { author, action }: TrailFilter): boolean {
  if (action !== undefined && row.action !== action) return false;
  if (author === undefined || author === "") return true;
  return row.author_id === author || row.author_name.toLowerCase().includes(author.toLowerCase());
}

/** `scannedTo` is the id to continue below if the request ended before the page was full. */
export async function findEntries(
  reader: TrailReader,
  scope: TrailScope,
  filter: TrailFilter,
  take: number,
  entriesPerRequest = 20_000,
): Promise<{ rows: AuditRow[]; scannedTo: string | null }> {
  const found: AuditRow[] = [];
  let scanned = 0;
  for await (const { rows, scannedTo } of readTrail(reader, scope, filter)) {
    found.push(...rows);
    scanned += batchSize;
    if (found.length >= take) return { rows: found.slice(0, take), scannedTo: null };
    if (scanned >= entriesPerRequest) return { rows: found, scannedTo };
  }
  return { rows: found, scannedTo: null };
}

export function toEntry(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    at: isoTime(row.created_at),
    author: { kind: row.author_kind, id: row.author_id, name: row.author_name },
    address: row.address,
    userAgent: row.user_agent,
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id, label: row.target_label },
    projectId: row.project_id,
    accountId: row.account_id,
    changes: JSON.parse(row.changes),
  };
}

export type TrailFormat = "csv" | "jsonl";

const columns = [
  "id",
  "at",
  "author_kind",
  "author_id",
  "author_name",
  "address",
  "user_agent",
  "action",
  "target_kind",
  "target_id",
  "target_label",
  "project_id",
  "account_id",
  "changes",
] as const;

/** All matching entries as text, batch by batch. */
export async function* exportTrail(
  reader: TrailReader,
  scope: TrailScope,
  filter: TrailFilter,
  format: TrailFormat,
): AsyncGenerator<string> {
  if (format === "csv") yield `${columns.join(",")}\r\n`;
  const write = format === "csv" ? toCsvLine : (row: AuditRow) => `${JSON.stringify(toEntry(row))}\n`;
  for await (const { rows } of readTrail(reader, scope, filter)) yield rows.map(write).join("");
}

function toCsvLine(row: AuditRow): string {
  const cells = { ...row, at: isoTime(row.created_at) };
  return `${columns.map((column) => toCell(cells[column] ?? "")).join(",")}\r\n`;
}

/** Spreadsheets run what begins like a formula, and anyone can choose a name. */
function toCell(value: string): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const dayMs = 24 * 60 * 60 * 1000;

const deleteOldest = statement((q, p: { before: string; take: number }) =>
  q
    .deleteFrom("audit")
    .where(
      "id",
      "in",
      q.selectFrom("audit").select("id").where("id", "<", p.before).orderBy("id").limit(p.take),
    ),
);

/** Deletes entries past their retention. */
export async function forgetOldEntries(
  { db, now, config }: Pick<Deps, "db" | "now"> & { config: Pick<Deps["config"], "auditRetentionDays"> },
  signal: AbortSignal,
): Promise<void> {
  const before = firstIdAt(now() - config.auditRetentionDays * dayMs);
  await inSteps((take) => db.run(deleteOldest, { before, take }), signal);
}
