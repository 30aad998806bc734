import { after, before, describe, test } from "node:test";
import type { Database } from "../../../src/db/database.ts";
import type { ObjectStore } from "../../../src/storage/object-store.ts";
import { describeAppends } from "./contract-appends.ts";
import { describeMultipart } from "./contract-multipart.ts";
import { describeObjects } from "./contract-objects.ts";
import { describeReading } from "./contract-reading.ts";
import { describeSinglePut } from "./contract-single.ts";
import { createContractSubject, type StoreTraits } from "./contract-subject.ts";

/** The contract written on `ObjectStore`, over real HTTP to the store's own presigned URLs. */
export function describeObjectStore(
  name: string,
  open: () => Promise<{ store: ObjectStore; db?: Database; close(): Promise<void> }>,
  traits: StoreTraits,
): void {
  describe(`object store contract: ${name}`, () => {
    let store: ObjectStore;
    let db: Database | undefined;
    let close: () => Promise<void>;
    before(async () => {
      ({ store, db, close } = await open());
    });
    after(() => close());

    const subject = createContractSubject(() => store, traits);
    describeSinglePut(subject);
    describeObjects(subject);
    describeMultipart(subject);
    describeAppends(subject, (work) => db?.transact(work));
    describeReading(subject);

    test("says that it can serve", () => store.check());
  });
}
