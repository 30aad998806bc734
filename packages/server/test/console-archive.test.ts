import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { ARCHIVES_AT_ONCE } from "@upstow/contract";
import { createArchive } from "../src/dashboard/files/archive.ts";
import { statement } from "../src/db/statement.ts";
import { createId } from "../src/kernel/ids.ts";
import { createSessionToken } from "./support/console-client.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

const run = promisify(execFile);

const holdForScan = statement((q, p: { id: string }) =>
  q.updateTable("file").set({ scan: "pending" }).where("id", "=", p.id),
);

const lengthen = statement((q, p: { id: string }) =>
  q.updateTable("file").set({ size_bytes: 1_000 }).where("id", "=", p.id),
);

onAnyDatabase("an archive of chosen files", (database) => {
  let app: TestApp;
  let folder: string;
  let tenant: Tenant;
  let cookie: string;
  before(async () => {
    app = await startApp({ database });
    folder = await mkdtemp(join(tmpdir(), "upstow-archive-"));
    tenant = await app.createTenant("pro");
    cookie = await enter(tenant);
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  const enter = async ({ accountId }: Tenant) => `upstow_session=${await createSessionToken(app, accountId)}`;
  const ask = (ids: string[], as = cookie, { projectId } = tenant) =>
    fetch(`${app.url}/dashboard/api/in/${projectId}/live/files/archive?ids=${ids.join(",")}`, {
      headers: as === "" ? {} : { cookie: as },
    });
  const upload = async (name: string, text: string, access: "public" | "private" = "public") => {
    const { id, key } = await uploadFile(app, text, { key: tenant.live, name });
    if (access === "private") {
      const path = `files/${encodeURIComponent(key)}`;
      assert.equal((await app.call("PATCH", path, { key: tenant.live, body: { access } })).status, 200);
    }
    return id as string;
  };

  /** The texts by name, after unzip has checked every checksum. */
  async function unpack(response: Response): Promise<Record<string, string>> {
    assert.equal(response.status, 200);
    const path = join(folder, `${createId(0)}.zip`);
    await writeFile(path, Buffer.from(await response.arrayBuffer()));
    await run("unzip", ["-tq", path]);
    const target = path.replace(".zip", "");
    await run("unzip", ["-q", path, "-d", target]);
    const { stdout } = await run("find", [target, "-type", "f", "-printf", "%P\\n"]);
    const names = stdout.trimEnd().split("\n");
    const read = async (name: string) => [name, await readFile(join(target, name), "utf8")] as const;
    return Object.fromEntries(await Promise.all(names.map(read)));
  }

  test("has public and private files, under names that are safe and never the same twice", async () => {
    const ids = [
      await upload("note.txt", "first"),
      await upload("Note.txt", "second", "private"),
      await upload("\u202etxt.exe", "hidden"),
      await upload("nul.txt", "device"),
      await upload("häfen.txt", "ü"),
    ];
    const response = await ask([...ids, ...ids]);
    assert.equal(response.headers.get("content-type"), "application/zip");
    assert.match(
      response.headers.get("content-disposition") ?? "",
      /^attachment; filename="files-\d{4}-\d\d-\d\d\.zip"$/,
    );
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.deepEqual(await unpack(response), {
      "note.txt": "first",
      "Note (2).txt": "second",
      "txt.exe": "hidden",
      "_nul.txt": "device",
      "häfen.txt": "ü",
    });
  });

  test("names what it leaves out: held for a scan, deleted, of another project", async () => {
    const kept = await upload("kept.txt", "kept");
    const held = await upload("held.txt", "held");
    const deleted = await upload("deleted.txt", "deleted");
    await app.app.deps.db.run(holdForScan, { id: held });
    const gone = await app.call("DELETE", `files/${deleted}`, { key: tenant.live });
    assert.equal(gone.status, 200);
    const other = await app.createTenant("pro");
    const foreign = (await uploadFile(app, "foreign", { key: other.live })).id;
    const { "Files left out.txt": leftOut, ...rest } = await unpack(
      await ask([kept, held, deleted, foreign]),
    );
    assert.deepEqual(rest, { "kept.txt": "kept" });
    assert.equal(
      leftOut,
      "held.txt: not available: not confirmed, held for a scan, expired or deleted\n" +
        "Deleted or expired before the download began: 2\n",
    );
    assert.equal((await ask([deleted, foreign])).status, 404);
  });

  test("names a file whose bytes are lost", async () => {
    const whole = await upload("whole.txt", "whole");
    const lost = await upload("lost.txt", "lost");
    const { deps } = app.app;
    const path = `files/${lost}`;
    const { key } = (await app.call("GET", path, { key: tenant.live })).body.file;
    await deps.store.delete([key]);
    const files = await unpack(await ask([whole, lost]));
    assert.equal(files["whole.txt"], "whole");
    assert.equal(
      files["Files left out.txt"],
      "lost.txt: The file is damaged in storage and is not served.\n",
    );
  });

  test("breaks off where a file ends early, so that nobody takes it for complete", async () => {
    const id = await upload("short.txt", "short");
    await app.app.deps.db.run(lengthen, { id });
    const response = await ask([id]);
    assert.equal(response.status, 200);
    await assert.rejects(response.arrayBuffer());
  });

  test("is for members of the project, who may be viewers, and for nobody else", async () => {
    const id = await upload("members.txt", "text");
    assert.equal((await ask([id], "")).status, 401);
    const stranger = await app.createTenant("pro");
    assert.equal((await ask([id], await enter(stranger))).status, 404);
    assert.equal((await ask(["not-an-id"])).status, 400);
    assert.equal((await ask([])).status, 400);
    const many = Array.from({ length: 251 }, () => createId(0));
    assert.equal((await ask(many)).status, 400);
    assert.equal((await ask([id, ...many.slice(0, 249)])).status, 200);
  });

  test("a file far beyond the memory of a chunk arrives whole and is counted", async () => {
    const text = "0123456789abcdef".repeat(512 * 1024);
    const id = await upload("large.txt", text);
    const files = await unpack(await ask([id]));
    assert.equal(files["large.txt"]?.length, text.length);
    assert.equal(files["large.txt"], text);
    await app.app.deps.bandwidth.flush();
    const { body } = await app.call("GET", "usage", { key: tenant.live });
    assert.ok(body.usage.bandwidthBytes >= text.length, JSON.stringify(body));
  });

  test("of a thousand like names are told apart, and others get their turns meanwhile", async () => {
    const count = 1_000;
    const name = `${"ä".repeat(240)}.txt`;
    const files = Array.from({ length: count }, () => ({ id: "0", key: "none", name, size_bytes: 1 }));
    let turns = 0;
    const countTurn = () => {
      turns++;
      next = setImmediate(countTurn);
    };
    let next = setImmediate(countTurn);
    const { body } = createArchive(app.app.deps, files, 0, new AbortController().signal);
    const archive = Buffer.concat(await body.toArray()).toString();
    clearImmediate(next);
    assert.ok(turns >= count, `${turns} turns`);
    const stem = "ä".repeat(98);
    const named = [...archive.matchAll(/^.*(ä+(?: \(\d+\))?\.txt): not available/gm)].map((line) => line[0]);
    assert.equal(new Set(named).size, count);
    assert.ok(named.at(-1)?.includes(`${stem} (${count}).txt:`), named.at(-1));
  });

  test("are no more at once than an account may download, and one that hangs up makes room", async () => {
    const own = await app.createTenant("pro");
    const headers = { cookie: await enter(own) };
    const { turns } = app.app.deps;
    // Every search has to wait for this one's turn to end.
    const { promise: turn, resolve: endTurn } = Promise.withResolvers<void>();
    void turns.take("someone else", () => turn);
    const path = `/dashboard/api/in/${own.projectId}/live/search/archive?name=a&before=${"z".repeat(26)}`;
    const start = (signal?: AbortSignal) =>
      fetch(app.url + path, { headers, ...(signal && { signal }) }).then(
        (response) => response.status,
        () => 0,
      );
    const first = new AbortController();
    const statuses = [start(first.signal)];
    for (let i = 1; i < ARCHIVES_AT_ONCE; i++) statuses.push(start());
    while (turns.waitingOf(own.accountId) < ARCHIVES_AT_ONCE) await wait(5);
    assert.equal(await start(), 429);
    first.abort();
    // What waits for its turn still does, so one more is the new one.
    for (let tries = 0; tries < 1_500 && turns.waitingOf(own.accountId) === ARCHIVES_AT_ONCE; tries++)
      await Promise.race([start(), wait(20)]);
    assert.ok(turns.waitingOf(own.accountId) > ARCHIVES_AT_ONCE);
    endTurn();
    assert.deepEqual(new Set(await Promise.all(statuses)), new Set([0, 404]));
  });
});
