import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createUpstow } from "@upstow/sdk";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { runFailing, runJson, runUpstow } from "./support/run-upstow.ts";

describe("the life of files on the command line", () => {
  let app: TestApp;
  let folder: string;
  let env: Record<string, string>;
  before(async () => {
    app = await startApp({ database: "sqlite" });
    folder = await mkdtemp(join(tmpdir(), "upstow-life-"));
    await writeFile(join(folder, "note.txt"), "hello");
    env = { HOME: folder, UPSTOW_URL: app.url, UPSTOW_API_KEY: app.owner.live };
    const upstow = createUpstow({ apiKey: app.owner.live, baseUrl: app.url });
    await upstow.projects.update(app.owner.projectId, { trashDays: 7 });
    await upstow.routers.create(app.owner.projectId, { slug: "form", claimWithin: 600, expireAfterDays: 9 });
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });
  const upload = async (...args: string[]) =>
    (await runJson(["upload", join(folder, "note.txt"), ...args], env)).files[0];

  it("uploads files that expire", async () => {
    const file = await upload("--expires-in", "60");
    assert.ok(Date.parse(file.expiresAt) <= Date.now() + 60_000);
    assert.equal((await upload()).expiresAt, null);
    assert.notEqual((await upload("--route", "form")).expiresAt, null);
    assert.equal((await upload("--route", "form", "--expires-in", "none")).expiresAt, null);
    const wrong = await runFailing(["upload", join(folder, "note.txt"), "--expires-in", "soon"], env);
    assert.deepEqual([wrong.exitCode, wrong.code], [2, "USAGE"]);
  });

  it("claims files", async () => {
    const { key, claimBy } = await upload("--route", "form");
    assert.notEqual(claimBy, null);
    assert.equal((await runUpstow(["files", "claim", key], env)).stdout, "Claimed 1 file.\n");
    const some = await runUpstow(["files", "claim", key, "none"], env);
    assert.equal(some.code, 1);
    assert.match(some.stderr, /✖ none {2}File not found\./);
  });

  it("lists the trash, restores from it and removes for good", async () => {
    const { key, url } = await upload("--metadata", '{"n":1}');
    await runJson(["files", "rm", key], env);
    const listTrash = async () => (await runUpstow(["files", "ls", "--status", "deleted"], env)).stdout;
    assert.match(await listTrash(), /note\.txt/);
    assert.equal((await runUpstow(["files", "restore", key], env)).stdout, "Restored 1 file.\n");
    assert.equal(await (await fetch(url)).text(), "hello");
    const again = await runUpstow(["files", "restore", key], env);
    assert.equal(again.code, 1);
    await runJson(["files", "rm", key], env);
    const purged = await runJson(["files", "rm", "--status", "deleted", "--purge", "--yes"], env);
    assert.deepEqual([purged.deleted, purged.reclaimedBytes], [1, 5]);
    assert.doesNotMatch(await listTrash(), /note\.txt/);
  });
});
