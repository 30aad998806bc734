import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { getEventListeners } from "node:events";
import { createReadStream } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, beforeEach, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createUpstow, type Upstow, UpstowError } from "../src/index.ts";
import type { MultipartRef } from "../src/wire/index.ts";
import { hashOf, hashStored } from "./support/hash-stored.ts";
import { until } from "./support/start-application.ts";
import { MB, startService, type TestService } from "./support/start-service.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const bytes = randomBytes(10 * MB + 17);
const partCount = 3;

async function assertStored(url: string, expected: Uint8Array): Promise<void> {
  assert.equal(await hashStored(url), hashOf(expected));
}

async function* chunksOf(from: Uint8Array, size = 100_000) {
  for (let at = 0; at < from.length; at += size) yield from.subarray(at, at + size);
}

describe("upload() in Node", () => {
  let service: TestService;
  let upstow: Upstow;
  let folder: string;

  before(async () => {
    service = await startService();
    upstow = createUpstow({ apiKey: service.apiKey, baseUrl: service.app.url });
    folder = await mkdtemp(join(tmpdir(), "upstow-sdk-"));
  });
  after(async () => {
    await rm(folder, { recursive: true });
    await service.close();
  });
  beforeEach(() => {
    service.storage.puts.length = 0;
    service.storage.cutsPut = () => false;
    service.storage.allow(Number.POSITIVE_INFINITY);
  });

  it("sends a small file by its path in one piece, with its name and type", async () => {
    const path = join(folder, "größe 100%.png");
    await writeFile(path, bytes.subarray(0, 5000));
    const file = await upstow.upload(path, { metadata: { album: 7 } });
    assert.equal(file.name, "größe 100%.png");
    assert.equal(file.type, "image/png");
    assert.deepEqual(file.metadata, { album: 7 });
    assert.equal(service.storage.puts.length, 1);
    await assertStored(file.url, bytes.subarray(0, 5000));
  });

  it("tells the type from the name where the source has none", async () => {
    const path = join(folder, "3f2a.tmp");
    await writeFile(path, "x");
    for (const source of [Buffer.from("x"), chunksOf(Buffer.from("x")), new Blob(["x"]), path]) {
      assert.equal((await upstow.upload(source, { name: "hello.txt" })).type, "text/plain");
    }
    assert.equal((await upstow.upload(path)).type, "application/octet-stream");
    assert.equal((await upstow.upload(new Blob(["x"], { type: "a/b" }), { name: "x.txt" })).type, "a/b");
  });

  it("sends a large file in parts and tells how far it is", async () => {
    const path = join(folder, "large.bin");
    await writeFile(path, bytes);
    const seen: number[] = [];
    const file = await upstow.upload(path, {
      onProgress: ({ sentBytes }) => seen.push(sentBytes),
    });
    assert.equal(service.storage.puts.length, partCount);
    assert.equal(seen.at(-1), bytes.length);
    assert.deepEqual(
      seen.toSorted((a, b) => a - b),
      seen,
    );
    await assertStored(file.url, bytes);
  });

  it("sends blobs, bytes and streams", async () => {
    const blob = await upstow.upload(new File([bytes.subarray(0, 99)], "a.csv", { type: "text/csv" }));
    assert.deepEqual([blob.name, blob.type, blob.size], ["a.csv", "text/csv", 99]);
    const raw = await upstow.upload(bytes.subarray(0, 10 * MB + 1), { name: "raw.bin" });
    await assertStored(raw.url, bytes.subarray(0, 10 * MB + 1));
    const sized = await upstow.upload(chunksOf(bytes), { name: "stream.bin", size: bytes.length });
    await assertStored(sized.url, bytes);
    const unsized = await upstow.upload(new Response(bytes).body ?? "", { name: "body.bin" });
    await assertStored(unsized.url, bytes);
  });

  it("sends text of Node's streams as UTF-8, and keeps the path of a file of Bun's to itself", async () => {
    const text = Buffer.from("12äö");
    for (const size of [{}, { size: text.length }]) {
      const file = await upstow.upload(Readable.from(["12", "äö"]), { name: "text.txt", ...size });
      await assertStored(file.url, text);
    }
    const ofBun = Object.assign(new Blob(["x"]), { name: "/srv/app/x.txt" });
    assert.equal((await upstow.upload(ofBun)).name, "x.txt");
    assert.equal((await upstow.upload(new File(["x"], "folder/x.txt"))).name, "folder/x.txt");
  });

  it("sends the body of an answer that nobody else holds any more", async () => {
    const first = await upstow.upload(bytes.subarray(0, 6), { name: "first.bin" });
    const fetchBody = async () => (await fetch(first.url)).body ?? "";
    const body = await fetchBody();
    let isOver = false;
    const uploading = upstow.upload(body, { name: "second.bin", size: 6 }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      collectGarbage();
      await nextTurn();
    }
    await assertStored((await uploading).url, bytes.subarray(0, 6));
  });

  it("refuses a stream that is not as long as it was said to be, and leaves nothing", async () => {
    for (const size of [bytes.length - 1, bytes.length + 1]) {
      await assert.rejects(upstow.upload(chunksOf(bytes), { name: "wrong.bin", size }), {
        code: "VALIDATION_ERROR",
      });
    }
    const { files } = await upstow.files.list();
    assert.equal(
      files.some((file) => file.name === "wrong.bin"),
      false,
    );
  });

  it("finishes on a line that is cut every fifth time", async () => {
    service.storage.cutsPut = (number) => number % 5 === 1;
    const file = await upstow.upload(new Blob([bytes]), { name: "rough.bin" });
    await assertStored(file.url, bytes);
    assert.ok(service.storage.puts.some((put) => put.status === null));
  });

  it("renews URLs that have expired, in both flows", async () => {
    service.storage.allow(1);
    const upload = upstow.upload(new Blob([bytes]), { name: "slow.bin" });
    await until(() => service.storage.puts.length >= 3);
    service.app.clock.advance(2 * 60 * 60 * 1000);
    service.storage.allow(Number.POSITIVE_INFINITY);
    await assertStored((await upload).url, bytes);
    assert.ok(service.storage.puts.some((put) => put.status === 403));

    service.storage.puts.length = 0;
    service.storage.allow(0);
    const small = upstow.upload(bytes.subarray(0, 1000), { name: "small.bin" });
    await until(() => service.storage.puts.length >= 1);
    service.app.clock.advance(16 * 60 * 1000);
    service.storage.allow(Number.POSITIVE_INFINITY);
    await assertStored((await small).url, bytes.subarray(0, 1000));
    assert.deepEqual(
      service.storage.puts.map((put) => put.status),
      [403, 200],
    );
  });

  it("takes a path and a stream by name, and says what to give in place of what it cannot read", async () => {
    const path = fileURLToPath(import.meta.url);
    const text = await readFile(path);
    for (const source of [{ path }, { stream: createReadStream(path) }, createReadStream(path)]) {
      const { size, name } = await upstow.upload(source, { name: "named.ts" });
      assert.deepEqual([size, name], [text.byteLength, "named.ts"]);
    }
    assert.equal((await upstow.upload({ path })).name, "node-upload.test.ts");
    const refused: [unknown, RegExp][] = [
      [
        new Response("a"),
        /cannot read a Response. Pass its body \(response.body\), or await response.blob\(\)/,
      ],
      [
        "https://example.com/a.png",
        /cannot read a URL. Let the service fetch it: importFromUrl\(url\)\. Or fetch it first/,
      ],
      [new URL("http://example.com/a.png"), /cannot read a URL/],
      [{ url: "https://example.com/a.png" }, /cannot read a URL/],
      [{ stream: "a" }, /cannot read Object. Pass a path, a Blob or File/],
      [5, /cannot read Number/],
      [undefined, /cannot read Undefined/],
    ];
    for (const [source, message] of refused)
      await assert.rejects(upstow.upload(source as never), {
        name: "UpstowError",
        code: "VALIDATION_ERROR",
        message,
      });
  });

  it("removes what it sent when it is cancelled or a part fails for good", async () => {
    const stop = new AbortController();
    service.storage.allow(2);
    const stopped = upstow.upload(new Blob([bytes]), { name: "stopped.bin", signal: stop.signal });
    await until(() => service.storage.puts.length >= 4);
    stop.abort();
    await assert.rejects(stopped, { name: "AbortError" });
    service.storage.allow(Number.POSITIVE_INFINITY);

    service.storage.puts.length = 0;
    service.storage.cutsPut = () => true;
    const failed = upstow.upload(new Blob([bytes]), { name: "failed.bin", retries: 1 });
    await assert.rejects(failed, (error) => error instanceof UpstowError && error.code === "NETWORK_ERROR");
    await assert.rejects(upstow.upload("hello world" as never, { name: "no.bin" }), { code: "ENOENT" });

    const { files } = await upstow.files.list();
    assert.equal(
      files.some((file) => file.status === "UPLOADING"),
      false,
    );
  });

  it("keeps what it sent when only the completion fails, unless it is cancelled then", async () => {
    const refs: MultipartRef[] = [];
    const stop = new AbortController();
    let act = () => {};
    const failing = createUpstow({
      apiKey: service.apiKey,
      baseUrl: service.app.url,
      retries: 0,
      fetch: async (...args) => {
        if (!String(args[0]).endsWith("/multipart/complete")) return fetch(...args);
        act();
        throw new TypeError("down");
      },
    });
    const upload = (signal?: AbortSignal) =>
      failing.upload(new Blob([bytes]), {
        name: "sent.bin",
        onStart: (ref) => refs.push(ref),
        ...(signal === undefined ? {} : { signal }),
      });
    await assert.rejects(upload(), { code: "NETWORK_ERROR" });
    service.storage.puts.length = 0;
    const [resume] = refs;
    assert.ok(resume !== undefined);
    await assertStored((await upstow.upload(new Blob([bytes]), { name: "sent.bin", resume })).url, bytes);
    assert.equal(service.storage.puts.length, 0);

    act = () => stop.abort();
    await assert.rejects(upload(stop.signal), { name: "AbortError" });
    const { files } = await upstow.files.list();
    assert.equal(
      files.some((file) => file.status === "UPLOADING"),
      false,
    );
  });

  it("removes what it opened when it is cancelled at the last byte or a callback throws", async () => {
    for (const size of [1000, bytes.length]) {
      const stop = new AbortController();
      const upload = upstow.upload(bytes.subarray(0, size), {
        signal: stop.signal,
        onProgress: ({ sentBytes }) => sentBytes === size && stop.abort(),
      });
      await assert.rejects(upload, { name: "AbortError" });
    }
    const onStart = () => {
      throw new RangeError("mine");
    };
    await assert.rejects(upstow.upload(bytes, { onStart }), RangeError);
    const { files } = await upstow.files.list();
    assert.equal(
      files.some((file) => file.status === "UPLOADING"),
      false,
    );
  });

  it("removes what was being opened when it is cancelled", async () => {
    for (const size of [1000, bytes.length]) {
      const stop = new AbortController();
      const slow = createUpstow({
        apiKey: service.apiKey,
        baseUrl: service.app.url,
        fetch: async (...args) => {
          const response = await fetch(...args);
          // The service has opened the upload, and its caller does not know it yet.
          stop.abort();
          return response;
        },
      });
      const upload = slow.upload(new Blob([bytes.subarray(0, size)]), {
        name: "opened.bin",
        signal: stop.signal,
      });
      await assert.rejects(upload, { name: "AbortError" });
      await until(async () => {
        const { files } = await upstow.files.list();
        return !files.some((file) => file.name === "opened.bin");
      });
    }
  });

  it("leaves nothing on a signal that outlives its uploads", async () => {
    const { signal } = new AbortController();
    await upstow.upload(bytes.subarray(0, 9), { signal });
    await upstow.upload(bytes, { signal });
    assert.equal(getEventListeners(signal, "abort").length, 0);
  });

  it("lets go of a stream that hangs", async () => {
    async function* hanging() {
      yield bytes.subarray(0, 100);
      await new Promise(() => {});
    }
    for (const size of [undefined, 1000, bytes.length]) {
      const options = { name: "hanging.bin", signal: AbortSignal.timeout(100) };
      const upload = upstow.upload(hanging(), size === undefined ? options : { ...options, size });
      await assert.rejects(upload, { name: "TimeoutError" });
    }
    // What was being opened at that moment goes a moment later.
    await until(async () => {
      const { files } = await upstow.files.list();
      return !files.some((file) => file.name === "hanging.bin");
    });
  });

  it("resumes with the parts that are missing, and the metadata that it is given now", async () => {
    const refs: MultipartRef[] = [];
    service.storage.cutsPut = (number) => number > 2;
    const options = { name: "again.bin", retries: 0, keepOnFailure: true, concurrency: 1 };
    const first = upstow.upload(chunksOf(bytes), {
      ...options,
      size: bytes.length,
      metadata: { album: 1 },
      onStart: (ref) => refs.push(ref),
    });
    await assert.rejects(first);
    const [resume] = refs;
    assert.ok(resume !== undefined);

    service.storage.puts.length = 0;
    service.storage.cutsPut = () => false;
    for (const size of [1000, bytes.length - 1]) {
      await assert.rejects(upstow.upload(bytes.subarray(0, size), { ...options, resume }), {
        code: "VALIDATION_ERROR",
        message: `The upload to resume has ${bytes.length} bytes, not ${size}.`,
      });
    }
    const metadata = { album: 2 };
    const file = await upstow.upload(chunksOf(bytes), { ...options, metadata, size: bytes.length, resume });
    assert.equal(service.storage.puts.length, partCount - 2);
    assert.deepEqual(file.metadata, metadata);
    await assertStored(file.url, bytes);
  });
});
