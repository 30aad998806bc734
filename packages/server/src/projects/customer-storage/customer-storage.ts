import type { Queryable } from "../../db/database.ts";
import type { CustomerStoreRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type { Author } from "../../kernel/actor.ts";
import { AppError, invalid, notFound, refusedUrl } from "../../kernel/errors.ts";
import { record } from "../audit/record.ts";
import { writeLog } from "../logs/queries.ts";
import {
  type BucketFindings,
  type BucketPlace,
  type CustomerBucket,
  createStoreId,
  openCredentials,
  placeOf,
  sealCredentials,
} from "./customer-stores.ts";
import {
  changeStore,
  chooseStore,
  deleteStore,
  findHeldDeletion,
  findHeldFile,
  findProjectId,
  findStoreOfProject,
  insertStore,
  leaveStore,
  listStoresOfProject,
  lockStore,
} from "./queries.ts";
import { checkPlace, isSamePlace, type StorageInput } from "./rules.ts";

type StorageDeps = Pick<Deps, "db" | "keyring" | "customerBuckets" | "now">;
type ChangeDeps = StorageDeps & Pick<Deps, "author">;

/** A store without its credentials. */
export interface ShownStore extends BucketPlace {
  createdAt: string;
  updatedAt: string;
}

export interface BucketProbeReport extends BucketFindings {
  ok: boolean;
  /** Whether pages may upload and read the ETag; null if unknown. */
  allowsBrowsers: boolean | null;
}

/** Required permissions. Listing is only for sweeping, which does not happen in customers' buckets. */
const needed = ["write", "read", "copy", "upload in parts", "delete"];

export async function findStorage(deps: StorageDeps, projectId: string): Promise<ShownStore | null> {
  await checkProject(deps, projectId);
  const row = await deps.db.get(findStoreOfProject, { projectId });
  return row && toShown(row);
}

/** New files of the project go to the bucket from now on; the bucket is probed before anything is saved. */
export async function setStorage(
  deps: ChangeDeps,
  projectId: string,
  input: StorageInput,
  signal?: AbortSignal,
): Promise<ShownStore> {
  await checkProject(deps, projectId);
  const place = checkPlace(input);
  const refusal = place.endpoint === null ? null : await deps.customerBuckets.judgeEndpoint(place.endpoint);
  if (refusal !== null) throw refusedUrl("endpoint", refusal, "UPSTOW_STORAGE_ALLOW_CIDRS");
  const bucket = deps.customerBuckets.open("candidate", place, input);
  const report = await probe(bucket, signal);
  if (!report.ok) throw invalid("bucket", `cannot be used: ${explain(report)}`);
  const now = deps.now();
  const sealed = sealCredentials(deps.keyring, input);
  const row = await deps.db.transact((tx) =>
    save(tx, { now, author: deps.author }, projectId, place, sealed),
  );
  return toShown(row);
}

async function save(
  tx: Queryable,
  { now, author }: { now: number; author: Author },
  projectId: string,
  place: BucketPlace,
  sealed: string,
): Promise<CustomerStoreRow> {
  const { forcePathStyle, ...where } = place;
  const before = await tx.get(findStoreOfProject, { projectId });
  const known = await tx.all(listStoresOfProject, { projectId });
  const same = known.find((row) => isSamePlace(placeOf(row), place));
  const row: CustomerStoreRow = {
    id: same?.id ?? createStoreId(now),
    project_id: projectId,
    ...where,
    force_path_style: forcePathStyle ? 1 : 0,
    sealed,
    created_at: same?.created_at ?? now,
    updated_at: now,
  };
  // A known one may have been removed by now.
  const isChanged = same !== undefined && (await tx.run(changeStore, row)) === 1;
  if (!isChanged) await tx.run(insertStore, row);
  if ((await tx.get(chooseStore, { projectId, storeId: row.id, now })) === null) throw notFound("Project");
  // A previous bucket stays known as long as it contains files.
  for (const other of known) if (other.id !== row.id) await forgetIfEmpty(tx, other);
  await log(tx, now, projectId, "storage.set", `New files are stored in the bucket "${place.bucket}".`);
  await record(tx, now, author, {
    action: "storage.set",
    target: { kind: "bucket", id: row.id, label: row.bucket },
    projectId,
    ...(before && { before }),
    after: row,
  });
  return row;
}

export async function probeStorage(
  deps: StorageDeps,
  projectId: string,
  signal?: AbortSignal,
): Promise<BucketProbeReport> {
  const row = await getRow(deps, projectId);
  const credentials = openCredentials(deps.keyring, row.sealed);
  return probe(deps.customerBuckets.open(row.id, placeOf(row), credentials), signal);
}

export async function removeStorage(deps: ChangeDeps, projectId: string): Promise<void> {
  const row = await getRow(deps, projectId);
  const now = deps.now();
  await deps.db.transact(async (tx) => {
    if (!(await forgetIfEmpty(tx, row))) {
      throw new AppError(
        "VALIDATION_ERROR",
        `The bucket "${row.bucket}" still contains files of this project.`,
        {
          suggestion: "Delete them first, or set another bucket: new files then go there.",
          status: 409,
        },
      );
    }
    if ((await tx.run(leaveStore, { projectId, storeId: row.id, now })) === 0) throw noBucket();
    await log(
      tx,
      now,
      projectId,
      "storage.removed",
      `New files are no longer stored in the bucket "${row.bucket}".`,
    );
    await record(tx, now, deps.author, {
      action: "storage.removed",
      target: { kind: "bucket", id: row.id, label: row.bucket },
      projectId,
      before: row,
    });
  });
}

async function forgetIfEmpty(tx: Queryable, { id, project_id }: CustomerStoreRow): Promise<boolean> {
  await tx.get(lockStore, { id });
  const file = await tx.get(findHeldFile, { projectId: project_id, storeId: id });
  if (file !== null || (await tx.get(findHeldDeletion, { storeId: id })) !== null) return false;
  await tx.run(deleteStore, { id });
  return true;
}

async function probe(bucket: CustomerBucket, signal: AbortSignal | undefined): Promise<BucketProbeReport> {
  try {
    const { unusable, refused, clockAheadMs } = await bucket.examine(signal);
    const ok = unusable === null && !refused.some(({ act }) => needed.includes(act));
    const allowsBrowsers = ok ? await bucket.allowsBrowsers(signal).catch(() => null) : null;
    return { ok, unusable, refused, clockAheadMs, allowsBrowsers };
  } finally {
    await bucket.close();
  }
}

function explain({ unusable, refused }: BucketProbeReport): string {
  const first = refused.find(({ act }) => needed.includes(act));
  return unusable ?? `the key may not ${first?.act}: ${first?.reason}`;
}

async function checkProject({ db }: StorageDeps, projectId: string): Promise<void> {
  if ((await db.get(findProjectId, { projectId })) !== null) return;
  throw new AppError("NOT_FOUND", `There is no project ${projectId}.`, { suggestion: "Check the id." });
}

async function getRow(deps: StorageDeps, projectId: string): Promise<CustomerStoreRow> {
  await checkProject(deps, projectId);
  const row = await deps.db.get(findStoreOfProject, { projectId });
  if (row === null) throw noBucket();
  return row;
}

const noBucket = () =>
  new AppError("NOT_FOUND", "The project has no custom bucket.", {
    suggestion: "Set one in its settings, or with `upstow storage set`.",
  });

function toShown(row: CustomerStoreRow): ShownStore {
  const [createdAt, updatedAt] = [row.created_at, row.updated_at].map((time) => new Date(time).toISOString());
  return { ...placeOf(row), createdAt: createdAt ?? "", updatedAt: updatedAt ?? "" };
}

function log(
  tx: Queryable,
  now: number,
  projectId: string,
  type: "storage.set" | "storage.removed",
  message: string,
): Promise<unknown> {
  return writeLog(tx, now, { projectId, environment: "live", type, message });
}
