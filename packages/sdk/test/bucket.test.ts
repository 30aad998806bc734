import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createTestBucket, type S3Server } from "../../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../../test/support/swift.ts";
import { createUploader, UpstowError } from "../src/client/index.ts";
import { startApplication, type TestApplication, type TestRouter } from "./support/start-application.ts";
import { MB } from "./support/start-service.ts";

const bytes = randomBytes(11 * MB + 17);
const files = () => [new File([bytes.subarray(0, 999)], "small.bin"), new File([bytes], "large.bin")];

describe("the uploader where clients send to a bucket", { skip: swiftMissing }, () => {
  let swift: S3Server;
  let application: TestApplication;
  before(async () => {
    swift = await startSwift();
    application = await startApplication({
      env: {
        UPSTOW_S3_BUCKET: await createTestBucket(swift),
        UPSTOW_S3_ENDPOINT: swift.endpoint,
        UPSTOW_S3_REGION: swift.region,
        UPSTOW_S3_ACCESS_KEY_ID: swift.accessKeyId,
        UPSTOW_S3_SECRET_ACCESS_KEY: swift.secretAccessKey,
      },
    });
  });
  after(async () => {
    await application?.close();
    await swift?.stop();
  });

  /** Notes what is sent and read where, and may change what is read. */
  function create(options: { verify?: boolean; change?: (read: Uint8Array) => void } = {}) {
    const calls: string[] = [];
    const uploader = createUploader<TestRouter>({
      endpoint: application.site.endpoint,
      verify: options.verify === true,
      async fetch(...args) {
        const { method = "GET" } = args[1] ?? {};
        const host = new URL(String(args[0])).host;
        calls.push(`${method} ${host === new URL(swift.endpoint).host ? "bucket" : "service"}`);
        const answer = await fetch(...args);
        if (method !== "GET" || options.change === undefined) return answer;
        const read = new Uint8Array(await answer.arrayBuffer());
        options.change(read);
        return new Response(read, answer);
      },
    });
    return { uploader, count: (call: string) => calls.filter((made) => made === call).length };
  }

  it("reads nothing back unless it is asked to", async () => {
    const { uploader, count } = create();
    const stored = await uploader.upload("any", files());
    assert.deepEqual(
      stored.map(({ size, sha256, isVerified }) => [size, sha256, isVerified]),
      [
        [999, null, false],
        [bytes.length, null, false],
      ],
    );
    assert.deepEqual([count("PUT bucket"), count("GET service")], [4, 0]);
  });

  it("compares by SHA-256 what the bucket has with what was chosen, in pieces", async () => {
    const { uploader, count } = create({ verify: true });
    const stored = await uploader.upload("any", files());
    assert.deepEqual(
      stored.map(({ isVerified }) => isVerified),
      [true, true],
    );
    assert.deepEqual([count("PUT bucket"), count("GET service")], [4, 4]);
  });

  it("fails when one byte differs", async () => {
    const { uploader } = create({
      verify: true,
      change: (read) => read.set([(read.at(-1) ?? 0) ^ 1], read.length - 1),
    });
    const uploading = uploader.upload("any", files()[0] ?? []);
    await assert.rejects(
      uploading,
      (error) => error instanceof UpstowError && error.code === "CHECKSUM_MISMATCH",
    );
  });
});
