import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { describe, it } from "node:test";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { isQuickRun } from "../../../test/support/quick-run.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import { envOf, keepData } from "./support/keep-data.ts";
import { type ServerProcess, spawnServer } from "./support/spawn-server.ts";
import { onlyOnDisk } from "./support/test-bucket.ts";

/** In `npm test` each engine goes with one store, which proves both. */
const withBucket = isQuickRun ? (["postgres"] as const) : (["sqlite", "postgres"] as const);
const withDisk = isQuickRun ? (["sqlite"] as const) : (["sqlite", "postgres"] as const);

/** Request, PUT and complete a private file, and make a link that opens it once. */
async function uploadOnce(server: ServerProcess, bytes: Buffer): Promise<string> {
  const { live: key } = server.keys;
  const post = async (path: string, body: object) => {
    const answer = await server.call("POST", path, { key, body });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const type = "application/octet-stream";
  const requested = await post("upload/request", {
    fileName: "a.bin",
    fileSize: bytes.length,
    contentType: type,
    routeSlug: "default",
    access: "private",
  });
  await fetch(requested.uploadUrl, { method: "PUT", headers: { "content-type": type }, body: bytes });
  await post("upload/complete", { fileId: requested.fileId });
  const { links } = await post("files/links", { keys: [requested.fileId], maxUses: 1 });
  return new URL(links[0].url).pathname;
}

interface Read {
  agent?: string;
  range?: string;
}

async function read(url: string, { agent = "first", range }: Read = {}) {
  const headers = { "user-agent": agent, ...(range === undefined ? {} : { range }) };
  const answer = await fetch(url, { headers });
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
}

async function killed(server: ServerProcess): Promise<void> {
  server.process.kill("SIGKILL");
  assert.equal(await server.ended, "SIGKILL");
}

describe("kill -9 after a use of a link was counted", () => {
  describe("and before a byte of the file was sent", { skip: swiftMissing }, () => {
    const s3 = setUpFaultyS3();
    for (const database of withBucket)
      it(`gives the file to nobody else (${database})`, async () => {
        const kept = await keepData(database);
        const env = { ...(await envOf(kept)), ...(await s3.createEnv()) };
        try {
          const bytes = randomBytes(2_000);
          const server = await spawnServer(env);
          const path = await uploadOnce(server, bytes);
          const asked = Promise.withResolvers<void>();
          s3.proxy.setFaults(({ method }) => {
            if (method !== "GET") return null;
            asked.resolve();
            return { kind: "hang" };
          });
          const first = assert.rejects(read(server.url + path));
          await asked.promise;
          const others = Array.from({ length: 8 }, () => read(server.url + path, { agent: "other" }));
          for (const { status } of await Promise.all(others)) assert.equal(status, 403);
          await killed(server);
          await first;
          s3.proxy.setFaults(() => null);

          const again = await spawnServer(env);
          const late = ["first", "other"].map((agent) => read(again.url + path, { agent }));
          for (const { status } of await Promise.all(late)) assert.equal(status, 403);
          assert.equal((await read(again.url + path, { agent: "other", range: "bytes=0-" })).status, 403);
          // Whom it was counted for may resume.
          const resumed = await read(again.url + path, { range: "bytes=0-" });
          assert.deepEqual([resumed.status, resumed.bytes], [206, bytes]);
          await killed(again);
        } finally {
          await kept.remove();
        }
      });
  });

  for (const database of withDisk)
    onlyOnDisk("the file is read from there")(
      `amid the file, lets its reader resume (${database})`,
      async () => {
        const kept = await keepData(database);
        const env = await envOf(kept);
        try {
          // More than the sockets between them hold.
          const bytes = randomBytes(32 * 1024 * 1024);
          const server = await spawnServer(env);
          const path = await uploadOnce(server, bytes);
          const reading = get(server.url + path, { headers: { "user-agent": "first" } });
          const [answer] = (await once(reading, "response")) as [IncomingMessage];
          assert.equal(answer.statusCode, 200);
          const chunks: Buffer[] = [];
          const broken = assert.rejects(async () => {
            for await (const chunk of answer) {
              if (chunks.push(chunk) === 1) await killed(server);
            }
          });
          await broken;
          const got = Buffer.concat(chunks);
          assert.ok(got.length < bytes.length);

          const again = await spawnServer(env);
          for (const agent of ["first", "other"])
            assert.equal((await read(again.url + path, { agent })).status, 403);
          const range = `bytes=${got.length}-`;
          assert.equal((await read(again.url + path, { agent: "other", range })).status, 403);
          const rest = await read(again.url + path, { range });
          assert.equal(rest.status, 206);
          assert.ok(Buffer.concat([got, rest.bytes]).equals(bytes));
          await killed(again);
        } finally {
          await kept.remove();
        }
      },
    );
});
