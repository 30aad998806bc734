import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createUpstow, type Upstow } from "../src/index.ts";
import { hashOf, hashStored } from "./support/hash-stored.ts";
import { MB, startService, type TestService } from "./support/start-service.ts";

const bytes = randomBytes(20 * MB + 17);

async function* chunksOf(from: Uint8Array, size = 300_000) {
  for (let at = 0; at < from.length; at += size) yield from.subarray(at, at + size);
}

describe("a stream whose size nobody knows", () => {
  let service: TestService;
  let upstow: Upstow;

  before(async () => {
    service = await startService();
    upstow = createUpstow({ apiKey: service.apiKey, baseUrl: service.app.url });
  });
  after(() => service.close());

  const namesOf = async () => (await upstow.files.list({ limit: 100 })).files.map(({ name }) => name);

  it("is stored with its name, type, metadata and life", async () => {
    const seen: { sentBytes: number; totalBytes: number }[] = [];
    const file = await upstow.upload(chunksOf(bytes), {
      name: "größe 100%.mp4",
      metadata: { album: { year: 7 } },
      audience: "course-1",
      expiresIn: 3_600,
      onProgress: (progress) => seen.push(progress),
    });
    assert.deepEqual(
      [file.name, file.type, file.size, file.status],
      ["größe 100%.mp4", "video/mp4", bytes.length, "UPLOADED"],
    );
    assert.deepEqual(file.metadata, { album: { year: 7 } });
    assert.equal(await hashStored(file.url), hashOf(bytes));
    const { audience, expiresAt } = await upstow.files.get(file.id);
    assert.equal(audience, "course-1");
    assert.equal(file.expiresAt, expiresAt);
    assert.ok(Math.abs(Date.parse(expiresAt ?? "") - Date.now() - 3_600_000) < 600_000);
    const ends = [8 * MB, 16 * MB, bytes.length];
    assert.deepEqual(
      seen,
      ends.map((end) => ({ sentBytes: end, totalBytes: end })),
    );
  });

  it("arrives whole on a line that loses responses and calls", async () => {
    let calls = 0;
    const rough = createUpstow({
      apiKey: service.apiKey,
      baseUrl: service.app.url,
      async fetch(...args) {
        const isAppend = args[1]?.method === "PATCH";
        if (isAppend && ++calls % 3 === 2) throw new TypeError("the line is down");
        const response = await fetch(...args);
        // The last append, too: 1 and 4 are lost on their way back.
        if (isAppend && calls % 3 === 1) {
          await response.arrayBuffer();
          throw new TypeError("the response is lost");
        }
        return response;
      },
    });
    const file = await rough.upload(chunksOf(bytes), { name: "rough.bin" });
    assert.equal(await hashStored(file.url), hashOf(bytes));
    assert.ok(calls > 3, `${calls} appends`);
    assert.equal((await namesOf()).filter((name) => name === "rough.bin").length, 1);
  });

  it("leaves nothing when it is cancelled, breaks or is too large", async () => {
    const cancel = new AbortController();
    const endless = async function* () {
      for (;;) yield new Uint8Array(MB);
    };
    await assert.rejects(
      upstow.upload(endless(), {
        name: "gone.bin",
        signal: cancel.signal,
        onProgress: () => cancel.abort(new Error("enough")),
      }),
      { message: "enough" },
    );
    const breaking = async function* () {
      yield bytes;
      throw new Error("the disk broke");
    };
    await assert.rejects(upstow.upload(breaking(), { name: "gone.bin" }), { message: "the disk broke" });
    await upstow.routers.create(service.app.owner.projectId, { slug: "small", maxFileSize: 12 * MB });
    await assert.rejects(upstow.upload(endless(), { name: "gone.bin", routeSlug: "small" }), { status: 413 });
    assert.ok(!(await namesOf()).includes("gone.bin"));
  });

  it("cannot be resumed", async () => {
    const resume = { fileId: "file", uploadId: "upload" };
    await assert.rejects(upstow.upload(chunksOf(bytes), { resume }), /needs the option size/);
  });
});
