// What happens between two steps of an upload.
import assert from "node:assert/strict";
import { statement } from "../../src/db/statement.ts";
import type { Deps } from "../../src/deps.ts";
import { findUpload, markFailed } from "../../src/files/uploads/queries.ts";
import type { Actor } from "../../src/kernel/actor.ts";
import { releaseUsage } from "../../src/projects/usage/quota.ts";

const selectReapAt = statement((q, p: { id: string }) =>
  q.selectFrom("file").select("reap_at").where("id", "=", p.id),
);

export async function findReapAt({ db }: Deps, id: string): Promise<number> {
  return (await db.get(selectReapAt, { id }))?.reap_at ?? Number.NaN;
}

/** The service, with something that happens once, when a store is first looked for. */
export function actMeanwhile(deps: Deps, act: () => Promise<unknown>): Deps {
  let pending: typeof act | null = act;
  const get = async (name: string) => {
    const now = pending;
    pending = null;
    await now?.();
    return deps.stores.get(name);
  };
  return { ...deps, stores: { get } };
}

/** What the reaper has done when it stops before it removes the bytes. */
export function failKeepingBytes({ db, now }: Deps, actor: Actor, id: string): Promise<void> {
  return db.transact(async (tx) => {
    const file = await tx.get(findUpload, { id, projectId: actor.projectId, environment: "live" });
    assert.ok(file);
    assert.equal(await tx.run(markFailed, { id, now: file.reap_at }), 1);
    await releaseUsage(tx, now(), actor, {
      storedBytes: 0,
      reservedBytes: file.size_bytes,
      uploadsByPeriod: new Map([[file.reserved_period ?? "", 1]]),
    });
  });
}
