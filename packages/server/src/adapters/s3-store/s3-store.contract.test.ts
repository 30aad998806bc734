import { describe } from "node:test";
import { startSwift, swiftMissing } from "../../../../../test/support/swift.ts";
import { describeObjectStore } from "../../ports/object-store-contract.ts";
import { minPartBytes } from "./multipart.ts";
import { openTestStore } from "./open-test-store.ts";

describe("OpenStack Swift", { skip: swiftMissing }, () => {
  describeObjectStore(
    "S3 on Swift",
    async () => {
      const server = await startSwift();
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
      keepsFinishedUploads: true,
    },
  );
});
