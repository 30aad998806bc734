import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { statement } from "../../server/src/db/statement.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { callUpstow, runFailing, runJson, runUpstow, spawnUpstow } from "./support/run-upstow.ts";

const MB = 1024 * 1024;
/** An upload of which a piece has arrived, so that its client reads the next one. */
const findSent = statement((q, _: object) =>
  q
    .selectFrom("resumable_upload")
    .innerJoin("file", "file.id", "resumable_upload.file_id")
    .select("file_id")
    .where("offset_bytes", ">", 0)
    .where("status", "=", "UPLOADING"),
);

describe("uploads without a file or a key", () => {
  let app: TestApp;
  let folder: string;
  let env: Record<string, string>;
  before(async () => {
    app = await startApp({ database: "sqlite" });
    folder = await mkdtemp(join(tmpdir(), "upstow-stdin-"));
    env = { HOME: folder, UPSTOW_URL: app.url, UPSTOW_API_KEY: app.owner.live };
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  it("stores what is piped in, whatever its size", async () => {
    for (const input of ["a few words", "0123456789".repeat(1.2 * MB)]) {
      const args = ["upload", "-", "--name", "dump.txt", "--metadata", '{"day":7}', "--json"];
      const run = await runUpstow(args, env, input);
      assert.equal(run.code, 0, run.stderr);
      const [file] = JSON.parse(run.stdout).files;
      assert.deepEqual(
        [file.path, file.name, file.type, file.metadata],
        ["-", "dump.txt", "text/plain", { day: 7 }],
      );
      assert.equal(await (await fetch(file.url)).text(), input);
    }
  });

  it("says that nothing was piped in", async () => {
    const { code, stderr } = await runUpstow(["upload", "-"], env, "");
    assert.equal(code, 1);
    assert.match(stderr, /ended without a single byte/);
  });

  it("stores nothing of what is interrupted", async () => {
    const stdin = new PassThrough();
    const run = callUpstow(["upload", "-", "--name", "cut.bin"], env, stdin);
    stdin.write(Buffer.alloc(9 * MB));
    while (stdin.readableLength > 0) await new Promise(setImmediate);
    run.signal("SIGINT");
    const { code, stderr } = await run.ended;
    assert.equal(code, 1);
    assert.match(stderr, /Stopped\. Nothing was stored\./);
    const { files } = await runJson(["files", "ls"], env);
    assert.ok(!files.some(({ name }: { name: string }) => name === "cut.bin"));
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const)
    it(`gives back what a stream has reserved when it ends by ${signal} while its input is silent`, async () => {
      const reserved = async () => (await app.call("GET", "usage", { key: app.owner.live })).body.usage;
      const before = await reserved();
      const { child, ended } = spawnUpstow(["upload", "-", "--name", "silent.bin"], env, null);
      child.stdin?.on("error", () => {}).write(Buffer.alloc(12 * MB));
      while ((await app.app.deps.db.get(findSent, {})) === null) await wait(20);
      child.kill(signal);
      const { code, stderr } = await ended;
      assert.equal(code, 1);
      assert.match(stderr, /Stopped\. Nothing was stored\./);
      const { reservedBytes, reservedUploads } = await reserved();
      assert.deepEqual([reservedBytes, reservedUploads], [before.reservedBytes, before.reservedUploads]);
    });

  it("says how stdin is used", async () => {
    for (const args of [
      ["-", "file.txt"],
      ["file.txt", "--name", "other.txt"],
    ]) {
      const { exitCode, code } = await runFailing(["upload", ...args], env);
      assert.deepEqual([exitCode, code], [2, "USAGE"]);
    }
  });

  it("lets somebody upload by a grant", async () => {
    const args = [
      "--max-files",
      "1",
      "--max-file-size",
      "5",
      "--type",
      "text/plain",
      "--metadata",
      '{"by":"them"}',
    ];
    const { grant } = await runJson(["grants", "create", ...args], env);
    assert.match(grant.token, /^upg_/);
    const send = (body: string) =>
      fetch(grant.tusUrl, {
        method: "POST",
        headers: {
          authorization: `Bearer ${grant.token}`,
          "tus-resumable": "1.0.0",
          "upload-length": String(body.length),
          "upload-metadata": `filetype ${btoa("text/plain")}`,
          "content-type": "application/offset+octet-stream",
        },
        body,
      });
    assert.equal((await send("too long")).status, 413);
    const stored = await send("short");
    const id = stored.headers.get("upstow-file-id");
    const { file } = (await app.call("GET", `files/${id}`, { key: app.owner.live })).body;
    assert.deepEqual(file.metadata, { by: "them" });
    assert.equal((await send("again")).status, 403);
    assert.match(
      (await runUpstow(["grants", "create"], env)).stdout,
      /^Token +upg_\S+\nExpires .*\ntus .*\/tus\nIETF .*\/resumable\nForm .*\/form\/upg_/,
    );
  });
});
