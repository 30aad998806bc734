import { setTimeout as wait } from "node:timers/promises";
import type { Queryable } from "../../../db/database.ts";
import type { Deps } from "../../../deps.ts";
import { AppError } from "../../../kernel/errors.ts";
import type { Appends, Progress } from "../../../storage/object-store.ts";
import {
  askForLease,
  extendLease,
  findLease,
  type ResumableUpload,
  releaseLease,
  saveProgress,
  takeLease,
} from "./queries.ts";

/** How long others leave an append alone that was last heard of at this moment. */
const leaseMs = 3_000;
const lookEveryMs = 1_000;
/** How long a request that has been asked to end may take to keep what it has. */
const patienceMs = 3_000;
const pollMs = 50;

/** The body behind a lease, as far as others may know. */
export interface Holder {
  /** Whether bytes are coming in, or we are busy with those that did. */
  isMoving(): boolean;
  /** Ends the body; what arrived of it is kept. */
  interrupt(): void;
}

interface Local extends Holder {
  ended: Promise<void>;
}

/** Appends of this process, by file. */
const local = new Map<string, Local>();

export interface Lease extends Progress {
  length: number | null;
  /**
   * Saves within the transaction that `commit` runs. With `isEnd` nothing may follow: the lease ends with it, which spares a
   * transaction.
   */
  save(
    progress: Progress,
    isEnd: boolean,
    commit: (guard: (tx: Queryable) => Promise<void>) => Promise<void>,
  ): Promise<void>;
  /** From here on others can end the body. */
  watch(holder: Holder): void;
  release(): Promise<void>;
}

/**
 * Takes an upload over for one append. A body that is still moving has it to itself: the newcomer gets 409. One that hangs
 * is ended, and what arrived of it is kept first.
 */
export async function takeUpload(
  deps: Deps,
  upload: ResumableUpload,
  { needsNoLease }: Appends,
): Promise<Lease> {
  const { id } = upload;
  const current = local.get(id);
  if (current?.isMoving()) throw busy();
  if (current !== undefined) await endLocal(current);
  else if (needsNoLease && upload.lease_until === 0) return startFrom(deps, upload);
  return takeNow(deps, id, -1);
}

/** Saving the bytes detects changes since the upload was read, so nothing is written before. */
function startFrom({ now }: Deps, upload: ResumableUpload): Lease {
  const fileId = upload.id;
  const place = enter(fileId);
  let { lease } = upload;
  return {
    offset: upload.offset_bytes,
    state: upload.store_state,
    length: upload.length_bytes,
    watch: place.watch,
    async save(progress, _isEnd, commit) {
      const nextLease = lease + 1;
      await commit(async (tx) => {
        const saved = { fileId, lease, nextLease, ...progress, now: now(), until: 0 };
        if ((await tx.run(saveProgress, saved)) === 0) throw takenOver();
      });
      lease = nextLease;
    },
    release: async () => place.leave(),
  };
}

/** The request that others of this process find, even before it reads its body. */
function enter(fileId: string) {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let body: Holder | null = null;
  let isInterrupted = false;
  const own: Local = {
    ended,
    isMoving: () => body?.isMoving() ?? true,
    interrupt() {
      isInterrupted = true;
      body?.interrupt();
    },
  };
  local.set(fileId, own);
  return {
    watch(holder: Holder): void {
      body = holder;
      if (isInterrupted) holder.interrupt();
    },
    leave(): void {
      if (local.get(fileId) === own) local.delete(fileId);
      resolve();
    },
  };
}

/** Ends the append that is running, if there is one, wherever it is. */
export async function interruptUpload(deps: Deps, upload: ResumableUpload): Promise<void> {
  const { id } = upload;
  const current = local.get(id);
  if (current !== undefined) await endLocal(current);
  const found = await deps.db.get(findLease, { fileId: id });
  if (found === null || found.lease_until === 0) return;
  if (deps.db.dialect === "postgres" && found.lease_until > deps.now()) {
    await deps.db.run(askForLease, { fileId: id });
    const deadline = performance.now() + patienceMs;
    for (let until = found.lease_until; until > 0 && performance.now() < deadline; ) {
      await wait(pollMs);
      until = (await deps.db.get(findLease, { fileId: id }))?.lease_until ?? 0;
    }
  }
  const lease = await takeNow(deps, id, found.lease).catch(nullIfBusy);
  await lease?.release();
}

async function endLocal(current: Local): Promise<void> {
  current.interrupt();
  await Promise.race([current.ended, wait(patienceMs, undefined, { ref: false })]);
}

async function takeNow(deps: Deps, fileId: string, insteadOf: number): Promise<Lease> {
  const { db, now } = deps;
  const [taken] = await db.change(takeLease, { fileId, now: now(), until: now() + leaseMs, insteadOf });
  if (taken === undefined) throw busy();
  const { lease } = taken;
  let place: ReturnType<typeof enter> | null = null;
  let looking: NodeJS.Timeout | undefined;
  let isOver = false;

  async function look(holder: Holder): Promise<void> {
    if (isOver) return;
    const until = holder.isMoving() ? now() + leaseMs : now();
    const [row] = await db.change(extendLease, { fileId, lease, until });
    if (!isOver && (row === undefined || row.is_awaited === 1)) holder.interrupt();
  }

  return {
    offset: taken.offset_bytes,
    state: taken.store_state,
    length: taken.length_bytes,
    async save(progress, isEnd, commit) {
      isOver = isEnd;
      try {
        await commit(async (tx) => {
          const at = now();
          const until = isEnd ? 0 : at + leaseMs;
          const saved = { fileId, lease, nextLease: lease, ...progress, now: at, until };
          if ((await tx.run(saveProgress, saved)) === 0) throw takenOver();
        });
      } catch (error) {
        isOver = false;
        throw error;
      }
    },
    watch(holder) {
      place = enter(fileId);
      place.watch(holder);
      // While the database is down, no other request can take over the upload either.
      looking = setInterval(() => void look(holder).catch(() => {}), lookEveryMs).unref();
    },
    async release() {
      clearInterval(looking);
      try {
        if (!isOver) await db.run(releaseLease, { fileId, lease });
      } finally {
        place?.leave();
      }
    },
  };
}

function nullIfBusy(error: unknown): null {
  if (error instanceof AppError && error.code === "CONFLICT") return null;
  throw error;
}

const busy = () =>
  new AppError("CONFLICT", "Another request is sending bytes to this upload.", {
    suggestion: "Get the offset with HEAD, which ends the other request, then continue there.",
    headers: { "retry-after": "1" },
  });

const takenOver = () =>
  new AppError("CONFLICT", "A newer request has taken over this upload.", {
    suggestion: "Get the offset with HEAD, then continue there.",
    headers: { connection: "close" },
  });
