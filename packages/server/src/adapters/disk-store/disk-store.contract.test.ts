import { describeObjectStore } from "../../ports/object-store-contract.ts";
import { databaseKinds, openTestStore } from "./open-test-store.ts";

for (const kind of databaseKinds) {
  describeObjectStore(`disk on ${kind}`, () => openTestStore(kind), {
    latePut: { afterFinish: 403, afterDelete: 403, partAfterEnd: 403 },
    minPartBytes: 0,
    capsParts: true,
  });
}
