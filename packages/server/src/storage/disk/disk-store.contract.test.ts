import { describeObjectStore } from "../../../test/support/storage/contract.ts";
import { databaseKinds, openTestStore } from "../../../test/support/storage/open-disk-store.ts";
import { largestRowBytes } from "./small-blobs.ts";

const traits = {
  latePut: { afterFinish: 403, afterDelete: 403, partAfterEnd: 403 },
  minPartBytes: 0,
  capsParts: true,
};

for (const kind of databaseKinds) {
  describeObjectStore(`disk on ${kind}, all in files`, () => openTestStore(kind), traits);
  describeObjectStore(
    `disk on ${kind}, small ones in rows`,
    () => openTestStore(kind, { largestRowBytes }),
    traits,
  );
}
