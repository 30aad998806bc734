import { createCustomerBuckets, openDatabase, openStoreBeside } from "@upstow/server/app/compose";
import type { Database, Queryable } from "@upstow/server/db/database";
import { createJobLeases } from "@upstow/server/db/job-leases";
import type { Author } from "@upstow/server/kernel/actor";
import type { Finding } from "@upstow/server/ops/verify/check-files";
import { continueWalk, findWalk, startWalk, type Walk } from "@upstow/server/ops/verify/walk";
import { record } from "@upstow/server/projects/audit/record";
import { createObjectStores } from "@upstow/server/projects/customer-storage/customer-stores";
import { type Call, OperatorError } from "./command.ts";
import { getKeyring } from "./customer-storage.ts";
import { operatorOf } from "./operator.ts";

export interface VerifyOptions {
  fix: boolean;
  /** How many files are read to the end, from 0 to 1. */
  share: number;
  acceptEtags: boolean;
  resume: boolean;
  onFinding: (finding: Finding) => void;
  onStep: (walk: Walk) => void;
  signal: AbortSignal;
}

/** A recount reads all files of a project in one statement, and there may be millions. */
const statementMs = 3_600_000;
const name = "verify-command";

/** Returns the walk as far as it came before the signal aborted. */
export async function verifyInstallation(call: Call, options: VerifyOptions): Promise<Walk> {
  const config = call.config();
  await using open = new AsyncDisposableStack();
  const db = open.adopt(await openDatabase(config, { statementMs }), (database) => database.close());
  const keyring = await getKeyring(config, db);
  const now = Date.now;
  const store = open.adopt(await openStoreBeside({ config, db, keyring, now }), (opened) => opened.close());
  const stores = createObjectStores({ db, keyring }, store, createCustomerBuckets(config));
  const current = await findCurrent(db, options);
  const { fix, acceptEtags } = current.walk;
  if (fix || acceptEtags) await db.transact((tx) => recordRepair(tx, now(), operatorOf(call)));
  const walkOn = (signal: AbortSignal) =>
    continueWalk({ db, store, stores, now }, current, {
      ...options,
      name,
      mostFilesPerCounter: Number.POSITIVE_INFINITY,
      signal,
    });
  try {
    return fix ? await alone(db, walkOn, options.signal) : await walkOn(options.signal);
  } catch (error) {
    const reached = (await findWalk(db, name))?.walk;
    if (options.signal.aborted) return reached ?? current.walk;
    if (!(error instanceof Error && error.name === "StorageUnavailable")) throw error;
    throw new OperatorError(
      "SERVICE_UNAVAILABLE",
      `The storage cannot be used: ${error.message}. Run \`upstow verify --resume\` when it works again.`,
    );
  }
}

/** Before anything is changed, so that nothing is changed without a trace. */
function recordRepair(tx: Queryable, now: number, author: Author): Promise<void> {
  return record(tx, now, author, {
    action: "installation.repaired",
    target: { kind: "installation", id: "verify" },
  });
}

async function findCurrent(db: Database, options: VerifyOptions) {
  if (!options.resume) return { walk: startWalk(options), startedAt: Date.now() };
  const last = await findWalk(db, name);
  if (last !== null && !last.walk.hasEnded) return last;
  throw new OperatorError("NOT_FOUND", "No interrupted check to resume. Run `upstow verify` to start one.");
}

const leaseMs = 300_000;

/** Two walks would both correct the same counter. */
async function alone(
  db: Database,
  work: (signal: AbortSignal) => Promise<Walk>,
  signal: AbortSignal,
): Promise<Walk> {
  // Aborted at the end, so that the lease ends with the work.
  const ended = new AbortController();
  let walk: Walk | null = null;
  const attempt = async (lost: AbortSignal) => {
    try {
      walk = await work(AbortSignal.any([signal, lost]));
    } finally {
      ended.abort();
    }
  };
  await createJobLeases(db)("upstow verify --fix", leaseMs, attempt, ended.signal);
  if (walk !== null) return walk;
  throw new OperatorError(
    "IN_USE",
    "Another `upstow verify --fix` is running, or was killed less than five minutes ago. Wait for it to finish.",
  );
}
