import type { Database } from "../../db/database.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type ObjectStores, UnknownStore } from "../../storage/object-stores.ts";
import type { CustomerBuckets } from "./customer-bucket.ts";
import { findStore } from "./queries.ts";
import { openCredentials, placeOf } from "./sealed-store.ts";

/** Buckets come and go; opening one costs next to nothing. */
const mostOpened = 1000;

/** The installation's store and those of customers. New credentials hold at once on every instance. */
export function createObjectStores(
  { db, keyring }: { db: Database; keyring: Keyring },
  own: ObjectStore,
  buckets: CustomerBuckets,
): ObjectStores {
  const opened = new Map<string, { version: string; store: ObjectStore }>();

  /** The former one may be in use; its idle connections end by themselves. */
  function forget(name: string | undefined): void {
    if (name !== undefined) opened.delete(name);
  }

  async function getCustomers(name: string): Promise<ObjectStore> {
    const row = await db.get(findStore, { id: name });
    if (row === null) {
      forget(name);
      throw new UnknownStore("the store that holds the file is not one of this installation");
    }
    const version = `${row.updated_at} ${row.sealed}`;
    const known = opened.get(name);
    if (known?.version === version) return known.store;
    const store = buckets.open(name, placeOf(row), openCredentials(keyring, row.sealed));
    forget(name);
    if (opened.size >= mostOpened) forget(opened.keys().next().value);
    opened.set(name, { version, store });
    return store;
  }

  return { get: (name) => (name === own.name ? own : getCustomers(name)) };
}
