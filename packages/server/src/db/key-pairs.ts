import { ENVIRONMENTS, type Environment } from "@upstow/contract";
import type { Keyring } from "../kernel/security/keyring.ts";
import type { Database, Queryable } from "./database.ts";
import type { Statement } from "./statement.ts";

export interface KeyOwner {
  projectId: string;
  environment: Environment;
}

/** The current key of an owner and the one that follows it, sealed with the installation's secret. */
export interface KeyPairRow {
  project_id: string;
  environment: Environment;
  current_sealed: string;
  next_sealed: string;
  /** Some keep the key before as well. */
  previous_sealed?: string | null;
}

interface KeyPairTable<Row extends KeyPairRow> {
  purpose: string;
  createKey(): string;
  find: Statement<KeyOwner, Row>;
  /** Two concurrent first uses end up with the same keys, those of the first. */
  insert: Statement<KeyOwner & { current: string; next: string }, unknown>;
  /** Guarded by the key that was read: of two concurrent rotations, one finds nothing to change. */
  replace: Statement<Row & { seenCurrent: string }, unknown>;
  list: Statement<{ environment: Environment; after: string; take: number }, Row>;
}

interface KeyDeps {
  db: Database;
  keyring: Keyring;
}

const batchSize = 100;

/** Pairs of keys that are created at their first use, rotated, and sealed again when the secret is replaced. */
export function createKeyPairs<Row extends KeyPairRow>(table: KeyPairTable<Row>) {
  const { purpose, createKey, find, insert, replace, list } = table;

  async function getOrCreate({ db, keyring }: KeyDeps, owner: KeyOwner): Promise<Row> {
    const found = await db.recall(find, owner);
    if (found !== null) return found;
    const seal = () => keyring.encrypt(createKey(), purpose);
    await db.run(insert, { ...owner, current: seal(), next: seal() });
    const created = await db.get(find, owner);
    if (created === null) throw new Error(`a ${purpose} was not written`);
    return created;
  }

  async function resealRow(deps: KeyDeps, row: Row): Promise<void> {
    const reseal = (sealed: string | null = null) => sealed && deps.keyring.reseal(sealed, purpose);
    const [current, next] = [reseal(row.current_sealed), reseal(row.next_sealed)];
    const previous = reseal(row.previous_sealed);
    if (current === null && next === null && previous === null) return;
    const changed = await deps.db.run(replace, {
      ...row,
      current_sealed: current ?? row.current_sealed,
      next_sealed: next ?? row.next_sealed,
      previous_sealed: previous ?? row.previous_sealed,
      seenCurrent: row.current_sealed,
    });
    if (changed === 1) return;
    // Rotated meanwhile, by an instance that may only know the older secret.
    const { project_id: projectId, environment } = row;
    const rotated = await deps.db.get(find, { projectId, environment });
    if (rotated !== null) await resealRow(deps, rotated);
  }

  return {
    getOrCreate,

    open: ({ keyring }: Pick<KeyDeps, "keyring">, row: Row) => ({
      current: keyring.decrypt(row.current_sealed, purpose),
      next: keyring.decrypt(row.next_sealed, purpose),
    }),

    /** The row after a rotation, for `replaceSeen`. */
    rotated: ({ keyring }: Pick<KeyDeps, "keyring">, row: Row): Row => ({
      ...row,
      current_sealed: row.next_sealed,
      next_sealed: keyring.encrypt(createKey(), purpose),
    }),

    /** False if the keys were rotated since `seen` was read. */
    replaceSeen: async (tx: Queryable, seen: Row, row: Row): Promise<boolean> =>
      (await tx.run(replace, { ...row, seenCurrent: seen.current_sealed })) === 1,

    /** Seals every key with the installation's newest secret. */
    async reseal(deps: KeyDeps): Promise<void> {
      for (const environment of ENVIRONMENTS) {
        let rows: Row[];
        let after = "";
        do {
          rows = await deps.db.all(list, { environment, after, take: batchSize });
          for (const row of rows) await resealRow(deps, row);
          after = rows.at(-1)?.project_id ?? "";
        } while (rows.length === batchSize);
      }
    },
  };
}
