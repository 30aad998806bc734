import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { openSqlite } from "../../db/sqlite/sqlite.ts";
import { StorageUnavailable } from "../../storage/object-store.ts";
import { createS3Store } from "../../storage/s3/s3-store.ts";
import { createLookAtImage } from "./look-at-image.ts";
import { noTools } from "./render/tools/recipes.ts";

describe("a look at an image in a bucket that sends a byte at a time", () => {
  const sending = new Set<NodeJS.Timeout>();
  const server = createServer(({ headers }, response) => {
    const [, start, end] = /bytes=(\d+)-(\d+)/.exec(headers.range ?? "") ?? [];
    const length = Number(end) - Number(start) + 1;
    response.writeHead(206, {
      etag: '"x"',
      "content-length": length,
      "content-range": `bytes ${start}-${end}/1000000`,
    });
    const trickle = setInterval(() => response.write(Buffer.of(0xff)), 20);
    sending.add(trickle);
    response.on("close", () => {
      clearInterval(trickle);
      sending.delete(trickle);
    });
  });
  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it("ends at its deadline, and so does the read", async () => {
    const db = openSqlite(":memory:");
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const store = createS3Store({
      name: "s3",
      bucket: "files",
      endpoint,
      publicEndpoint: endpoint,
      region: "us-east-1",
      accessKeyId: "key",
      secretAccessKey: "secret",
      forcePathStyle: true,
      prefix: "",
      headersOf: (contentType) => ({ contentType }),
    });
    const look = createLookAtImage({ store, db, onDamagedRead: assert.fail, tools: noTools }, 300);
    const stored = {
      key: "key",
      stored_apart: 0,
      etag: "x",
      store_etag: null,
      sha256: null,
      upload_id: null,
    };
    const file = { id: "file", size_bytes: 1_000_000, ...stored };
    await assert.rejects(look(file), (error) => {
      assert.ok(error instanceof StorageUnavailable);
      assert.match(error.message, /took too long to return an image/);
      return true;
    });
    while (sending.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await store.close();
    await db.close();
  });
});
