import assert from "node:assert/strict";
import { it } from "node:test";
import { createCopyObject } from "./copy-object.ts";
import type { S3Client } from "./s3-client.ts";
import { toS3Error } from "./s3-error.ts";

const guardHeader = "if-none-match";
const file = { fromKey: "a", toKey: "b", sizeBytes: 1, etag: "x", contentType: "text/plain" };

/** Whether each copy was guarded, by a bucket that refuses the first. */
function createCopies(status: number, code: string) {
  const guarded: boolean[] = [];
  const objects: Pick<S3Client["objects"], "copy"> = {
    async copy({ guard }) {
      guarded.push(guardHeader in guard);
      if (guarded.length === 1) throw toS3Error(status, `<Error><Code>${code}</Code></Error>`);
      return { etag: "x" };
    },
  };
  const copy = createCopyObject({ pieceBytes: 10, guardHeader });
  return { guarded, copy: () => copy({ objects } as S3Client, file) };
}

it("goes on without a guard where the store does not know it", async () => {
  for (const [status, code] of [
    [501, "NotImplemented"],
    [501, ""],
    [400, "NotImplemented"],
    [400, "InvalidArgument"],
    [400, "InvalidRequest"],
  ] as const) {
    const { guarded, copy } = createCopies(status, code);
    for (let count = 0; count < 2; count++) assert.deepEqual(await copy(), { etag: "x" });
    assert.deepEqual(guarded, [true, false, false], `${status} ${code}`);
  }
});

it("keeps its guard after any other refusal", async () => {
  for (const [status, code] of [
    [400, "RequestTimeout"],
    [400, "BadDigest"],
    [400, ""],
    [503, "SlowDown"],
  ] as const) {
    const { guarded, copy } = createCopies(status, code);
    await assert.rejects(copy(), { status });
    assert.deepEqual(await copy(), { etag: "x" });
    assert.deepEqual(guarded, [true, true], `${status} ${code}`);
  }
});
