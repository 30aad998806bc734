import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { findUpload } from "../src/files/uploads/queries.ts";
import { createId } from "../src/kernel/ids.ts";
import { writeLog } from "../src/projects/logs/queries.ts";
import { findLogsOfType } from "../src/projects/logs/routes.ts";
import { expectInvalid } from "./support/expect-error.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";

onBothDatabases("logs", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  const list = async (tenant: Tenant, query = "", key = tenant.live) =>
    (await app.call("GET", `logs${query}`, { key })).body;
  const ids = (page: { logs: { id: string }[] }) => page.logs.map((log) => log.id);
  async function write(tenant: Tenant, count: number): Promise<void> {
    await app.app.deps.db.transact(async (tx) => {
      for (let i = 0; i < count; i++) {
        const entry = { projectId: tenant.projectId, environment: "live", type: "upload.failed" } as const;
        await writeLog(tx, app.clock.now(), { ...entry, message: `entry ${i}`, data: { i } });
      }
    });
  }

  it("tells what happened in the key's environment, newest first, with exactly the fields of a log", async () => {
    const tenant = await app.createTenant("pro");
    app.clock.advance(5);
    const body = { slug: "logged", environment: "test" };
    const path = `projects/${tenant.projectId}/routers`;
    const { router } = (await app.call("POST", path, { key: tenant.test, body })).body;
    const page = await list(tenant, "", tenant.test);
    assert.deepEqual(Object.keys(page), ["logs", "nextCursor", "hasMore"]);
    assert.deepEqual(
      page.logs.map((log: { type: string }) => log.type),
      ["router.created", "key.created"],
    );
    const [newest] = page.logs;
    assert.deepEqual(Object.keys(newest), ["id", "type", "message", "data", "createdAt"]);
    assert.deepEqual([newest.data, newest.createdAt], [{ slug: "logged" }, router.createdAt]);
    const live = await list(tenant);
    assert.deepEqual(
      new Set(live.logs.map((log: { type: string }) => log.type)),
      new Set(["project.created", "key.created"]),
    );
    assert.deepEqual([page.nextCursor, page.hasMore], [null, false]);
  });

  it("keeps every file and its entry as sent, of uploads that are requested at once", async () => {
    const tenant = await app.createTenant("pro");
    const names = ["plain", 'a "quoted" name', "back\\slash", "ünï💾code", "null", "{}", "[1,2]", "%s $1 :x"];
    const wanted = names.flatMap((name) => [`${name}.bin`, `${name}.dat`]);
    const requested = await Promise.all(
      wanted.map((fileName, i) =>
        app.call("POST", "upload/request", {
          key: tenant.live,
          body: {
            fileName,
            fileSize: i + 1,
            contentType: "application/octet-stream",
            routeSlug: "default",
            metadata: { fileName, i, none: null },
          },
        }),
      ),
    );
    const { logs } = await list(tenant, "?type=upload.requested");
    assert.equal(logs.length, wanted.length);
    for (const [i, { status, body }] of requested.entries()) {
      assert.equal(status, 200);
      const entry = logs.find((log: { fileId: string }) => log.fileId === body.fileId);
      assert.equal(entry.message, `Upload of "${wanted[i]}" was requested.`);
      const file = await app.app.deps.db.get(findUpload, { id: body.fileId, ...tenant, environment: "live" });
      assert.deepEqual([entry.data.size, entry.key], [i + 1, file?.key]);
      assert.deepEqual([file?.name, file?.size_bytes, file?.expires_at], [wanted[i], i + 1, null]);
      assert.deepEqual(JSON.parse(file?.metadata ?? ""), { fileName: wanted[i], i, none: null });
    }
  });

  it("names file and key where an entry is about a file", async () => {
    const tenant = await app.createTenant("free");
    const file = { id: createId(1), key: "p/r/u/name.png" };
    const entry = {
      projectId: tenant.projectId,
      environment: "live",
      type: "file.deleted",
      message: "m",
    } as const;
    await app.app.deps.db.transact((tx) => writeLog(tx, app.clock.now(), { ...entry, file }));
    const [log] = (await list(tenant, "?type=file.deleted")).logs;
    assert.deepEqual(Object.keys(log), ["id", "type", "message", "data", "createdAt", "fileId", "key"]);
    assert.deepEqual([log.fileId, log.key, log.data], [file.id, file.key, {}]);
  });

  it("pages through everything once, whatever is written meanwhile", async () => {
    const tenant = await app.createTenant("free");
    await write(tenant, 60);
    const whole = ids(await list(tenant, "?limit=100"));
    const seen: string[] = [];
    let cursor = "";
    for (let hasMore = true; hasMore; ) {
      const page = await list(tenant, `?limit=7${cursor}`);
      seen.push(...ids(page));
      hasMore = page.hasMore;
      assert.equal(page.nextCursor === null, !hasMore);
      cursor = `&cursor=${page.nextCursor}`;
      app.clock.advance(2);
      await write(tenant, 3);
    }
    assert.deepEqual(seen, whole);
    assert.deepEqual(seen, [...seen].sort().reverse());
  });

  it("shows 50 by default and ends exactly at the last row", async () => {
    const tenant = await app.createTenant("free");
    await write(tenant, 48);
    const page = await list(tenant);
    assert.equal(page.logs.length, 50);
    assert.equal(page.hasMore, false);
    await write(tenant, 1);
    assert.equal((await list(tenant)).hasMore, true);
    const last = await list(tenant, `?cursor=${(await list(tenant)).nextCursor}`);
    assert.deepEqual([last.logs.length, last.hasMore, last.nextCursor], [1, false, null]);
  });

  it("filters by type and by time", async () => {
    const tenant = await app.createTenant("free");
    app.clock.advance(1000);
    const since = new Date(app.clock.now()).toISOString();
    app.clock.setTime(app.clock.now());
    await write(tenant, 2);
    assert.equal((await list(tenant, `?since=${since}`)).logs.length, 2);
    assert.equal((await list(tenant, "?type=upload.failed")).logs.length, 2);
    assert.equal((await list(tenant, "?type=no.such")).logs.length, 0);
    assert.equal(
      (await list(tenant, `?since=${new Date(app.clock.now() + 1).toISOString()}`)).logs.length,
      0,
    );
    assert.equal((await list(tenant, "?since=1960-01-01T00:00:00Z")).logs.length, 4);
    assert.equal(
      (await list(tenant, `?since=${encodeURIComponent("2020-01-01T00:00:00+05:30")}`)).logs.length,
      4,
    );
  });

  it("finds entries of a rare type among many others, and lets others have their turn meanwhile", async () => {
    const tenant = await app.createTenant("free");
    const { projectId } = tenant;
    const rare = { projectId, environment: "live", type: "file.updated", message: "rare" } as const;
    // Several stretches of the embedded database; PostgreSQL looks in a process of its own.
    const between = database === "sqlite" ? 7_000 : 50;
    for (let i = 0; i < 3; i++) {
      await app.app.deps.db.transact((tx) => writeLog(tx, app.clock.now(), rare));
      app.clock.advance(1);
      await write(tenant, between);
      app.clock.advance(1);
    }
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const wanted = { projectId, environment: "live", before: "~", from: "", take: 10 } as const;
    const { rows: found } = await findLogsOfType(app.app.deps.db, { ...wanted, type: rare.type });
    clearImmediate(next);
    assert.equal(found.length, 3);
    assert.ok(turns >= (database === "sqlite" ? 4 : 0), `${turns} turns`);
    const first = await list(tenant, "?type=file.updated&limit=2");
    assert.equal(first.hasMore, true);
    const second = await list(tenant, `?type=file.updated&limit=2&cursor=${first.nextCursor}`);
    assert.deepEqual([...ids(first), ...ids(second)], ids({ logs: found }));
    assert.deepEqual([second.hasMore, second.nextCursor], [false, null]);
  });

  it("reads a bounded number of entries per request, then says where to continue", async () => {
    const tenant = await app.createTenant("free");
    const { projectId } = tenant;
    const rare = { projectId, environment: "live", type: "file.updated", message: "rare" } as const;
    await app.app.deps.db.transact((tx) => writeLog(tx, app.clock.now(), rare));
    app.clock.advance(1);
    await write(tenant, 120);
    const wanted = { projectId, environment: "live", type: rare.type, from: "", take: 10 } as const;
    const first = await findLogsOfType(app.app.deps.db, { ...wanted, before: "~" }, 100);
    assert.deepEqual(first.rows, []);
    assert.ok(first.scannedTo !== null);
    const rest = await findLogsOfType(app.app.deps.db, { ...wanted, before: first.scannedTo }, 100);
    assert.deepEqual([rest.rows.length, rest.scannedTo], [1, null]);
  });

  it("refuses damaged cursors, limits outside 1 to 100 and times that are none", async () => {
    const tenant = await app.createTenant("free");
    await write(tenant, 3);
    const { nextCursor } = await list(tenant, "?limit=1");
    const damaged = [
      nextCursor.slice(0, -1),
      `${nextCursor}A`,
      `${nextCursor}=`,
      nextCursor.toUpperCase(),
      Buffer.from("v2:00000000000000000000000000").toString("base64url"),
      Buffer.from("v1:~").toString("base64url"),
      "",
      "null",
      "'; drop table log; --",
      "%F0%9F%98%80",
    ];
    const refused = async (query: string, field: string) =>
      expectInvalid(await app.call("GET", `logs?${query}`, { key: tenant.live }), field);
    for (const cursor of damaged) await refused(`cursor=${cursor}`, "cursor");
    for (const limit of [
      "0",
      "101",
      "-1",
      "1.5",
      "many",
      "",
      "5&limit=6",
      "1e400",
      "Infinity",
      "0x10",
      "1e1",
      "+5",
    ]) {
      await refused(`limit=${limit}`, "limit");
    }
    for (const since of ["yesterday", "2024-13-01T00:00:00Z", "2024-01-01", "12", "2016-12-31T23:59:60Z"]) {
      await refused(`since=${since}`, "since");
    }
    const unescaped = await app.call("GET", "logs?since=2026-11-17T08:00:00+05:30", { key: tenant.live });
    assert.match(unescaped.body.error.message, /^since must be a time with its zone, such as 2026-/);
    await refused(`type=${"x".repeat(101)}`, "type");
    for (const limit of ["1", "100"]) assert.ok((await list(tenant, `?limit=${limit}`)).logs.length > 0);
  });
});
