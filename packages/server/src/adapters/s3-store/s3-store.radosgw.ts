// A second opinion on the contract, from Ceph's gateway. Not part of `npm test`: it takes 250 MB of packages.
//   apt-get install --no-install-recommends radosgw ceph-mon ceph-osd
//   npx node --test packages/server/src/adapters/s3-store/s3-store.radosgw.ts
import { describe } from "node:test";
import { radosgwMissing, startRadosgw } from "../../../../../test/support/radosgw.ts";
import { describeObjectStore } from "../../ports/object-store-contract.ts";
import { minPartBytes } from "./multipart.ts";
import { openTestStore } from "./open-test-store.ts";

describe("radosgw", { skip: radosgwMissing }, () => {
  describeObjectStore(
    "S3 on radosgw",
    async () => {
      const server = await startRadosgw();
      const store = await openTestStore(server);
      return {
        store,
        async close() {
          await store.close();
          await server.stop();
        },
      };
    },
    {
      latePut: { afterFinish: 200, afterDelete: 200, partAfterEnd: 404 },
      minPartBytes,
      capsParts: false,
      withoutLength: 403,
      needsEveryPart: true,
    },
  );
});
