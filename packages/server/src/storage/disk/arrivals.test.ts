import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { readAnswer } from "../../../test/support/raw-http.ts";
import { put, readAll, statusOf } from "../../../test/support/storage/contract-client.ts";
import {
  databaseKinds,
  openTestStore,
  type TestStore,
} from "../../../test/support/storage/open-disk-store.ts";

const type = "text/plain";
let lastKey = 0;

function presign({ store }: TestStore, key: string, sizeBytes: number): Promise<string> {
  return store.presignPut({ key, contentType: type, sizeBytes, expiresInSec: 60 });
}

/** Begins a PUT whose body does not end by itself. */
async function begin(opened: TestStore, url: string, sizeBytes: number, first: string): Promise<Socket> {
  const { hostname, port, pathname } = new URL(url);
  const before = (await opened.listFiles()).length;
  const socket = connect(Number(port), hostname);
  const lines = [
    `PUT ${pathname} HTTP/1.1`,
    "Host: x",
    `Content-Type: ${type}`,
    `Content-Length: ${sizeBytes}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${first}`);
  while ((await opened.listFiles()).length === before) await sleep(5);
  return socket;
}

/** What a PUT is answered with once it is no longer told to wait. */
async function putUntilFree(url: string, body: string): Promise<number> {
  for (;;) {
    const { status } = await put(url, body, { "content-type": type });
    if (status !== 409) return status;
    await sleep(5);
  }
}

/** Asks before it sends the body, and never sends it. */
async function ask(url: string, sizeBytes: number): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = [
    `PUT ${pathname} HTTP/1.1`,
    "Host: x",
    `Content-Type: ${type}`,
    `Content-Length: ${sizeBytes}`,
    "Expect: 100-continue",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const [answer] = await once(socket, "data");
  socket.destroy();
  return String(answer);
}

for (const kind of databaseKinds) {
  describe(`one body at a time, ${kind}`, { timeout: 30_000 }, () => {
    let opened: TestStore;
    before(async () => {
      opened = await openTestStore(kind, { takeOverAfterMs: 600_000 });
    });
    after(() => opened.close());

    test("a second PUT gets 409 before its body is read, and the first goes on", async () => {
      const key = `one/${++lastKey}`;
      const url = await presign(opened, key, 6);
      const first = await begin(opened, url, 6, "fir");
      assert.equal(statusOf(await ask(url, 6)), 409);
      assert.equal((await put(url, "second", { "content-type": type })).status, 409);
      // A URL that was signed again is the same upload.
      await sleep(2);
      assert.equal(
        (await put(await presign(opened, key, 6), "second", { "content-type": type })).status,
        409,
      );
      first.write("st!");
      assert.equal((await readAnswer(first)).status, 200);
      first.destroy();
      await opened.store.finishPut(key, 6);
      assert.equal(String(await readAll(opened.store, key)), "first!");
    });

    test("bodies that follow one another are all taken, and the last one wins", async () => {
      const key = `one/${++lastKey}`;
      const url = await presign(opened, key, 6);
      for (const body of ["first!", "second", "third!"])
        assert.equal((await put(url, body, { "content-type": type })).status, 200);
      await opened.store.finishPut(key, 6);
      assert.equal(String(await readAll(opened.store, key)), "third!");
    });

    for (const end of ["destroy", "resetAndDestroy", "end"] as const) {
      test(`a client that hangs up frees the place: ${end}`, async () => {
        const key = `one/${++lastKey}`;
        const url = await presign(opened, key, 6);
        const first = await begin(opened, url, 6, "fir");
        first.resume()[end]();
        assert.equal(await putUntilFree(url, "second"), 200);
        await opened.store.finishPut(key, 6);
        assert.equal(String(await readAll(opened.store, key)), "second");
      });
    }

    test("counts every part of its own, whichever URL names it", async () => {
      const upload = { key: `one/${++lastKey}`, sizeBytes: 9 };
      const uploadId = await opened.store.startMultipart({ ...upload, contentType: type });
      const sign = async (expiresInSec: number) =>
        opened.store.presignParts({ ...upload, uploadId, partNumbers: [1, 2], expiresInSec });
      const [firstUrl = "", secondUrl = ""] = await sign(60);
      const [signedAgain = ""] = await sign(50);
      const first = await begin(opened, firstUrl, 3, "a");
      for (const url of [firstUrl, signedAgain]) assert.equal((await put(url, "xyz")).status, 409);
      assert.equal((await put(secondUrl, "def")).status, 200);
      // Together with the first one they would be more than the whole file.
      assert.equal((await put(secondUrl, "defghij")).status, 403);
      first.write("bc");
      assert.equal((await readAnswer(first)).status, 200);
      first.destroy();
      assert.equal((await put(signedAgain, "xyz")).status, 200);
      const parts = await opened.store.listParts({ key: upload.key, uploadId });
      assert.deepEqual(
        parts?.map(({ partNumber, sizeBytes }) => [partNumber, sizeBytes]),
        [
          [1, 3],
          [2, 3],
        ],
      );
    });
  });

  describe(`a body that fell silent, ${kind}`, { timeout: 30_000 }, () => {
    let opened: TestStore;
    before(async () => {
      opened = await openTestStore(kind, { takeOverAfterMs: 1000 });
    });
    after(() => opened.close());

    test("makes way for a newer one, and nothing of it is kept", async () => {
      const key = `silent/${++lastKey}`;
      const url = await presign(opened, key, 6);
      const first = await begin(opened, url, 6, "fir");
      assert.equal(await putUntilFree(url, "second"), 200);
      assert.equal((await readAnswer(first)).status, 409);
      first.destroy();
      assert.equal((await opened.listFiles()).length, 1);
      await opened.store.finishPut(key, 6);
      assert.equal(String(await readAll(opened.store, key)), "second");
      await opened.store.delete([key]);
    });

    test("makes way once; the next one has to wait for the newer", async () => {
      const key = `silent/${++lastKey}`;
      const url = await presign(opened, key, 6);
      const first = await begin(opened, url, 6, "fir");
      await sleep(1050);
      const { hostname, port, pathname } = new URL(url);
      const newer = Array.from({ length: 8 }, () => {
        const socket = connect(Number(port), hostname);
        const lines = [`PUT ${pathname} HTTP/1.1`, "Host: x", `Content-Type: ${type}`, "Content-Length: 6"];
        socket.write(`${lines.join("\r\n")}\r\nExpect: 100-continue\r\n\r\n`);
        return once(socket, "data").then(([answer]) => ({ socket, status: statusOf(String(answer)) }));
      });
      const answers = await Promise.all(newer);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [100, 409, 409, 409, 409, 409, 409, 409]);
      for (const { socket } of answers) socket.destroy();
      first.destroy();
      assert.equal(await putUntilFree(url, "second"), 200);
    });

    test("is not one that still moves", async () => {
      const key = `silent/${++lastKey}`;
      const url = await presign(opened, key, 1000);
      const first = await begin(opened, url, 1000, "-");
      const trickle = setInterval(() => first.write("-"), 20);
      try {
        for (let round = 0; round < 10; round++) {
          assert.equal((await put(url, "x".repeat(1000), { "content-type": type })).status, 409);
          await sleep(50);
        }
      } finally {
        clearInterval(trickle);
        first.destroy();
      }
    });
  });
}
