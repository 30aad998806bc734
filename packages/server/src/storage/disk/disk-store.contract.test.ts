import { isQuickRun } from "../../../../../test/support/quick-run.ts";
import { describeObjectStore } from "../../../test/support/storage/contract.ts";
import { databaseKinds, openTestStore } from "../../../test/support/storage/open-disk-store.ts";
import { largestRowBytes } from "./small-blobs.ts";

const traits = {
  latePut: { afterFinish: 403, afterDelete: 403, partAfterEnd: 403 },
  minPartBytes: 0,
  capsParts: true,
};

for (const kind of databaseKinds) {
  // Bytes in rows meet the engine; those in files hardly do.
  if (!isQuickRun || kind === "sqlite")
    describeObjectStore(`disk on ${kind}, all in files`, () => openTestStore(kind), traits);
  describeObjectStore(
    `disk on ${kind}, small ones in rows`,
    () => openTestStore(kind, { largestRowBytes }),
    traits,
  );
}
