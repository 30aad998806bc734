import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { it } from "node:test";
import { StorageUnavailable } from "../object-store.ts";
import { createExchange } from "./exchange.ts";
import { createS3Store } from "./s3-store.ts";

/** As many as there are connections to a bucket. */
const readerCount = 256;
/** Time enough for all of them on a busy machine, and less than until a reader who pauses gives its connection back. */
const attemptDeadlineMs = 4000;

/** Answers a GET with the beginning of a large body, and everything else at once. */
async function startBucket() {
  const server = createServer(({ method }, response) => {
    const isGet = method === "GET";
    response.writeHead(200, { etag: '"x"', "content-length": isGet ? 1e9 : 7 });
    if (isGet) response.write("x");
    else response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

it("leave the connections alone that everything else needs, and let no other reader wait for ever", async () => {
  const bucket = await startBucket();
  const store = createS3Store({
    name: "s3",
    bucket: "files",
    endpoint: bucket.url,
    publicEndpoint: bucket.url,
    region: "us-east-1",
    accessKeyId: "key",
    secretAccessKey: "secret",
    forcePathStyle: true,
    prefix: "",
    headersOf: (contentType) => ({ contentType }),
    retry: { attempts: 1, baseDelayMs: 1, maxDelayMs: 1, giveUpAfterMs: 1 },
    attemptDeadlineMs,
  });
  try {
    const gone = new AbortController();
    const readers = Array.from({ length: readerCount }, () => store.read("large", { signal: gone.signal }));
    for (const stream of await Promise.all(readers)) {
      assert.ok(stream !== null && !Buffer.isBuffer(stream));
      stream.on("error", () => {});
    }
    await store.check();
    assert.equal((await store.head("small"))?.sizeBytes, 7);
    await assert.rejects(store.read("large"), StorageUnavailable);
    gone.abort();
    const next = await store.read("large");
    assert.ok(next !== null && !Buffer.isBuffer(next));
    next.destroy();
  } finally {
    await store.close();
    bucket.stop();
  }
});

it("let no request wait longer for a connection than its deadline", async () => {
  const bucket = await startBucket();
  const exchange = createExchange(bucket.url);
  const requestOf = (method: string, deadlineMs: number) => ({ method, path: "/", headers: {}, deadlineMs });
  try {
    await Promise.all(Array.from({ length: readerCount }, () => exchange.start(requestOf("GET", 10_000))));
    await assert.rejects(exchange.fetch(requestOf("HEAD", 100)), { name: "TimeoutError" });
  } finally {
    exchange.close();
    bucket.stop();
  }
});
