import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { createId } from "../src/kernel/ids.ts";
import { type ConsoleCall, createSessionToken, signInAs } from "./support/console-client.ts";
import { expectInvalid } from "./support/expect-error.ts";
import { insertManyFiles } from "./support/many-files.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

const run = promisify(execFile);

interface Listed {
  id: string;
  name: string;
  access: string;
  expiresAt: string | null;
}

onAnyDatabase("changes and downloads of many files", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let owner: ConsoleCall;
  let inLive: string;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  async function enter(): Promise<void> {
    tenant = await app.createTenant("pro");
    owner = await signInAs(app, tenant.accountId);
    inLive = `/in/${tenant.projectId}/live`;
  }
  const find = async (query = ""): Promise<Listed[]> =>
    (await owner("GET", `${inLive}/search?limit=100${query}`)).body.files;
  const count = async (query = "") => (await owner("GET", `${inLive}/search/count?${query}`)).body;
  /** As the dashboard does it: call by call, until nothing is left. */
  async function changeAll(body: Record<string, unknown>): Promise<number[]> {
    const changed: number[] = [];
    for (let { before } = body; before !== null; ) {
      const answer = await owner("POST", `${inLive}/search/change`, { ...body, before });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      changed.push(answer.body.changed);
      before = answer.body.before;
    }
    return changed;
  }

  test("access, expiry and metadata change for all that match, in calls of at most 200 files", async () => {
    await enter();
    await insertManyFiles(app, { projectId: tenant.projectId, count: 450 });
    const other = await app.createTenant("pro");
    await insertManyFiles(app, { projectId: other.projectId, count: 2 });
    const counted = await count();
    assert.equal(counted.count, 450);
    const id = createId(app.clock.now() + 60_000);
    const describe = () => ({ id, key: `${tenant.projectId}/default/${id}/late.jpg`, name: "late.jpg" });
    await insertManyFiles(app, { projectId: tenant.projectId, count: 1, describe });

    const { before } = counted;
    assert.deepEqual(await changeAll({ before, change: { access: "private" } }), [200, 200, 50]);
    assert.deepEqual(
      (await find("&access=public")).map((file) => file.name),
      ["late.jpg"],
    );
    assert.equal((await count("access=private")).count, 450);
    const expiring = { name: "upload-0000", before, change: { expiresIn: 3_600 } };
    assert.deepEqual(await changeAll(expiring), [100]);
    assert.equal((await find("&name=upload-0000")).filter((file) => file.expiresAt !== null).length, 100);
    assert.equal((await find("&name=upload-0001")).filter((file) => file.expiresAt !== null).length, 0);
    const sorted = { type: "image/", before, change: { metadata: { album: "all" } } };
    assert.deepEqual(await changeAll(sorted), [113]);
    assert.equal((await count("metadata=album%3Dall")).count, 113);
    const stranger = await signInAs(app, other.accountId);
    const theirs = (await stranger("GET", `/in/${other.projectId}/live/search`)).body.files;
    assert.ok(theirs.every((file: Listed) => file.access === "public"));
  });

  test("chosen files change by their ids, those of others and deleted ones are not counted", async () => {
    await enter();
    await insertManyFiles(app, { projectId: tenant.projectId, count: 3 });
    const other = await app.createTenant("pro");
    await insertManyFiles(app, { projectId: other.projectId, count: 1 });
    const stranger = await signInAs(app, other.accountId);
    const [foreign] = (await stranger("GET", `/in/${other.projectId}/live/search`)).body.files;
    const [first, second, third] = await find();
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    await owner("POST", `${inLive}/files/delete`, { ids: [third.id] });
    const ids = [first.id, first.id, foreign.id, third.id];
    const change = { access: "private" };
    const changed = await owner("POST", `${inLive}/files/change`, { ids, change });
    assert.deepEqual([changed.status, changed.body], [200, { changed: 1 }]);
    assert.deepEqual(
      (await find()).map(({ access }) => access),
      ["private", "public"],
    );
    const tooMany = Array.from({ length: 201 }, () => first.id);
    expectInvalid(await owner("POST", `${inLive}/files/change`, { ids: tooMany, change }), "ids");
    for (const wrong of [{}, { access: "open" }, { metadata: 5 }, { expiresIn: 0 }]) {
      const answer = await owner("POST", `${inLive}/files/change`, { ids: [first.id], change: wrong });
      assert.equal(answer.status, 400, JSON.stringify(wrong));
    }
  });

  test("all that match are downloaded as one archive, and no more than it may hold", async () => {
    await enter();
    for (const name of ["a.txt", "b.txt", "c.csv"])
      await uploadFile(app, `text of ${name}`, { key: tenant.live, name });
    const { before, bytes } = await count("name=.txt");
    assert.equal(bytes, 2 * "text of a.txt".length);
    await uploadFile(app, "too late", { key: tenant.live, name: "late.txt" });
    const cookie = `upstow_session=${await createSessionToken(app, tenant.accountId)}`;
    const ask = (query: string) =>
      fetch(`${app.url}/dashboard/api${inLive}/search/archive?${query}`, { headers: { cookie } });
    const archive = await ask(`name=.txt&before=${before}`);
    assert.equal(archive.status, 200);
    const folder = await mkdtemp(join(tmpdir(), "upstow-bulk-"));
    await writeFile(join(folder, "all.zip"), Buffer.from(await archive.arrayBuffer()));
    await run("unzip", ["-tq", join(folder, "all.zip")]);
    const { stdout } = await run("unzip", ["-Z1", join(folder, "all.zip")]);
    await rm(folder, { recursive: true });
    assert.deepEqual(stdout.trim().split("\n").sort(), ["a.txt", "b.txt"]);
    assert.equal((await ask(`name=none&before=${before}`)).status, 404);
    assert.equal((await ask("name=.txt")).status, 400);

    await insertManyFiles(app, { projectId: tenant.projectId, count: 10_001 });
    const after = createId(app.clock.now() + 60_000);
    const refused = await ask(`before=${after}`);
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /matches more than 10000 files/);
  });
});
