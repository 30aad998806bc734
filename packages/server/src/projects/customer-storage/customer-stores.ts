import type { Database } from "../../db/database.ts";
import type { CustomerStoreRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { createId } from "../../kernel/ids.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import { type ObjectStore, type ObjectStores, UnknownStore } from "../../storage/object-store.ts";
import { record } from "../audit/record.ts";
import { findStore, listStores, resealStore } from "./queries.ts";

/** Buckets change; opening one costs next to nothing. */
const mostOpened = 1000;

/** The installation's store and those of customers. New credentials take effect immediately on every instance. */
export function createObjectStores(
  { db, keyring }: { db: Database; keyring: Keyring },
  own: ObjectStore,
  buckets: CustomerBuckets,
): ObjectStores {
  const opened = new Map<string, { version: string; store: ObjectStore }>();

  /** The previous one may be in use; its idle connections close by themselves. */
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

  return { get: async (name) => (name === own.name ? own : getCustomers(name)) };
}

const purpose = "customer storage";

export function sealCredentials(
  keyring: Keyring,
  { accessKeyId, secretAccessKey }: BucketCredentials,
): string {
  return keyring.encrypt(JSON.stringify({ accessKeyId, secretAccessKey }), purpose);
}

export function openCredentials(keyring: Keyring, sealed: string): BucketCredentials {
  return JSON.parse(keyring.decrypt(sealed, purpose));
}

/** Null if they are already sealed with the first secret, or if no secret opens them. */
export function resealOlderCredentials(keyring: Keyring, sealed: string): string | null {
  return keyring.reseal(sealed, purpose);
}

export function placeOf(row: CustomerStoreRow): BucketPlace {
  const { endpoint, region, bucket, prefix } = row;
  return { endpoint, region, bucket, prefix, forcePathStyle: row.force_path_style === 1 };
}

/** Where a customer's bucket is. */
export interface BucketPlace {
  /** Null means Amazon's own endpoint for the region. */
  endpoint: string | null;
  region: string;
  bucket: string;
  /** Prefix of every object's name; ends with a slash, or is empty. */
  prefix: string;
  forcePathStyle: boolean;
}

export interface BucketCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** The result of probing a bucket. */
export interface BucketFindings {
  /** Why it cannot be used at all; null if it can. */
  unusable: string | null;
  refused: { act: string; reason: string }[];
  clockAheadMs: number | null;
}

export interface CustomerBucket extends ObjectStore {
  /** Writes, reads, copies and removes small objects. Ends early with the signal. */
  examine(signal?: AbortSignal): Promise<BucketFindings>;
  allowsBrowsers(signal?: AbortSignal): Promise<boolean>;
}

/** Buckets at addresses chosen by customers, and therefore untrusted. */
export interface CustomerBuckets {
  /** Null if the address is allowed; otherwise the reason, in a sentence. */
  judgeEndpoint(endpoint: string): Promise<string | null>;
  /** Connects only to allowed addresses, whatever the name resolves to by then. */
  open(name: string, place: BucketPlace, credentials: BucketCredentials): CustomerBucket;
}

const prefix = "cs_";

export function createStoreId(now: number): string {
  return prefix + createId(now);
}

/** Whether a file's store name is that of a customer's bucket. */
export function isCustomerStore(name: string): boolean {
  return name.startsWith(prefix);
}

const batchSize = 100;

type ResealDeps = Pick<Deps, "db" | "keyring">;

/** Seals all credentials with the newest secret, so that an older one can be dropped. Returns how many. */
export async function resealCredentials(deps: ResealDeps & Pick<Deps, "now" | "author">): Promise<number> {
  const { db, keyring, now, author } = deps;
  const seal = (sealed: string) => sealCredentials(keyring, openCredentials(keyring, sealed));
  const count = await resealStores(deps, seal);
  // Rows are resealed one by one, so this states the total.
  await db.transact((tx) =>
    record(tx, now(), author, {
      action: "installation.credentials-resealed",
      target: { kind: "installation", id: "credentials" },
      after: { count },
    }),
  );
  return count;
}

/** Only those sealed with an older secret; those that no secret opens are left as they are. */
export function resealOlderStores(deps: ResealDeps): Promise<number> {
  return resealStores(deps, (sealed) => resealOlderCredentials(deps.keyring, sealed));
}

async function resealStores({ db }: ResealDeps, reseal: (sealed: string) => string | null): Promise<number> {
  let [count, after] = [0, ""];
  for (;;) {
    const rows = await db.all(listStores, { after, take: batchSize });
    for (const { id, sealed } of rows) {
      const resealed = reseal(sealed);
      if (resealed !== null) count += await db.run(resealStore, { id, sealed, resealed });
    }
    after = rows.at(-1)?.id ?? "";
    if (rows.length < batchSize) return count;
  }
}
