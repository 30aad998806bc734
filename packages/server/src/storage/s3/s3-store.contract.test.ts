import { describe } from "node:test";
import { startSwift, swiftMissing } from "../../../../../test/support/swift.ts";
import { describeObjectStore } from "../../../test/support/storage/contract.ts";
import { openSubject } from "../../../test/support/storage/open-s3-store.ts";
import { minPartBytes } from "./multipart.ts";

describe("OpenStack Swift", { skip: swiftMissing }, () => {
  describeObjectStore("S3 on Swift", () => openSubject(startSwift), {
    latePut: { afterFinish: 200, afterDelete: 200, partAfterEnd: 404 },
    minPartBytes,
    capsParts: false,
    withoutLength: 403,
    keepsFinishedUploads: true,
  });
});
