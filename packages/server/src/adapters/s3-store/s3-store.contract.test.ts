import { describe } from "node:test";
import { startSwift, swiftMissing } from "../../../../../test/support/swift.ts";
import { describeObjectStore } from "../../ports/object-store-contract.ts";
import { minPartBytes } from "./multipart.ts";
import { openSubject } from "./open-test-store.ts";

describe("OpenStack Swift", { skip: swiftMissing }, () => {
  describeObjectStore("S3 on Swift", () => openSubject(startSwift), {
    latePut: { afterFinish: 200, afterDelete: 200, partAfterEnd: 404 },
    minPartBytes,
    capsParts: false,
    withoutLength: 403,
    keepsFinishedUploads: true,
  });
});
