import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { after, before, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { DatabaseReadOnly } from "../src/db/database.ts";
import type { Statement } from "../src/db/statement.ts";
import { tableNames } from "../src/db/table-names.ts";
import { enterReadOnly, leaveReadOnly } from "../src/http/read-only.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import { createUploadClient, put, type UploadClient, type UploadedFile } from "./support/upload-client.ts";

onBothDatabases("read-only mode", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let file: UploadedFile;
  const bytes = randomBytes(300);
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("enterprise");
    client = createUploadClient(app, tenant.live);
    file = await client.upload(bytes);
  });
  after(() => app.close());

  const enter = () => enterReadOnly(app.app.deps.db, "storage", Date.now());
  const leave = () => leaveReadOnly(app.app.deps.db, "storage");

  /** The service looks every second; however slow the machine, it gets to it. */
  async function untilLogged(pattern: RegExp): Promise<void> {
    while (!app.logLines.some((line) => pattern.test(line))) await wait(20);
  }

  async function startPut(url: string, body: Buffer) {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
    const headers = { "content-type": "text/plain", "content-length": body.length };
    const outgoing = httpRequest(url, { method: "PUT", headers });
    outgoing.on("error", reject);
    outgoing.on("response", async (answer) => {
      let text = "";
      for await (const chunk of answer.setEncoding("utf8")) text += chunk;
      resolve({ status: answer.statusCode ?? 0, text });
    });
    await new Promise<void>((sent, failed) =>
      outgoing.write(body.subarray(0, 10), (error) => (error ? failed(error) : sent())),
    );
    return { finish: () => outgoing.end(body.subarray(10)), answer: promise };
  }

  it("refuses every change from the moment it begins, reads on, and ends as if nothing had been", async () => {
    const open = await client.request();
    const underWay = await client.request({ fileSize: 1000 });
    const body = randomBytes(1000);
    const sending = await startPut(underWay.uploadUrl, body);
    await enter();

    // Not even noticed by the service yet, perhaps: then the database refuses.
    const first = await client.requestAnswer();
    await untilLogged(/read-only from now on/);
    const refused = [
      first,
      await client.requestAnswer(),
      await client.complete(open.fileId),
      await client.patch(file.key, { metadata: { a: 1 } }),
      await client.remove(file.key),
      await client.initAnswer({}, { "idempotency-key": "abc" }),
      await app.call("POST", "/dashboard/api/sign-in", {
        body: { email: "a@b.c", password: "x" },
        headers: { origin: app.url },
      }),
    ];
    for (const { status, headers, body: answer } of refused) {
      assert.equal(status, 503, JSON.stringify(answer));
      assert.equal(headers.get("retry-after"), "30");
      assert.deepEqual(Object.keys(answer.error), ["type", "code", "message", "suggestion"]);
      assert.deepEqual([answer.error.type, answer.error.code], ["api_error", "SERVICE_UNAVAILABLE"]);
      assert.match(answer.error.message, /being moved/);
    }

    sending.finish();
    const cutShort = await sending.answer;
    // A bucket takes what was signed for, and knows of no mode; it is completed afterwards.
    const whileReadOnly = onDisk ? 503 : 200;
    assert.equal(cutShort.status, whileReadOnly, cutShort.text);
    const late = await put(open.uploadUrl, Buffer.from("hello bytes"));
    assert.equal(late.status, whileReadOnly);
    if (onDisk) assert.equal(late.headers.get("access-control-allow-origin"), "*");
    await late.arrayBuffer();

    const served = await fetch(app.url + new URL(file.url).pathname);
    assert.deepEqual(Buffer.from(await served.arrayBuffer()), bytes);
    for (const path of ["files", "usage", "logs", "projects", `files/${encodeURIComponent(file.key)}`]) {
      assert.equal((await app.call("GET", path, { key: tenant.live })).status, 200, path);
    }
    assert.equal((await app.call("GET", "/readyz")).status, 200);
    const tools = await app.call("POST", "mcp", {
      body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
      headers: { accept: "application/json, text/event-stream" },
    });
    assert.equal(tools.status, 200);

    await leave();
    await untilLogged(/accepts changes again/);
    assert.equal((await put(open.uploadUrl, Buffer.from("hello bytes"))).status, 200);
    assert.equal((await client.complete(open.fileId)).status, 200);
    assert.equal((await put(underWay.uploadUrl, body)).status, 200);
    assert.equal((await client.complete(underWay.fileId)).status, 200);
    const complaints = app.logLines.filter(
      (line) => JSON.parse(line).level === "error" && /read-only/.test(line),
    );
    assert.deepEqual(complaints, [], "none of it is an error of the service");
  });

  it("holds for both reasons until both have ended", async () => {
    const { db } = app.app.deps;
    await enterReadOnly(db, "storage", 1);
    await enterReadOnly(db, "database", 2);
    await enterReadOnly(db, "database", 3);
    await leaveReadOnly(db, "storage");
    await leaveReadOnly(db, "storage");
    const rename = () => db.migrate((tx) => tx.script("UPDATE account SET email = email"));
    await assert.rejects(rename(), DatabaseReadOnly);
    await leaveReadOnly(db, "database");
    await rename();
  });

  it("guards every table but those that have to be written", async () => {
    const { db } = app.app.deps;
    const listNames = (sql: string) => async () =>
      (await db.all({ compile: () => ({ sql, bind: () => [] }) } as Statement<object, { name: string }>, {}))
        .map(({ name }) => name)
        .sort();
    const isSqlite = database === "sqlite";
    const listTables = listNames(
      isSqlite
        ? "select name from sqlite_master where type = 'table'"
        : "select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition",
    );
    const listGuarded = listNames(
      isSqlite
        ? "select tbl_name as name from sqlite_master where type = 'trigger' group by tbl_name having count(*) = 3"
        : "select relname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid where tgname = 'read_only'",
    );
    const writable = [
      "migration",
      "rate_window",
      "read_only",
      "relocated_object",
      "relocated_table",
      "relocation",
    ];
    assert.deepEqual(await listTables(), tableNames.toSorted());
    await enter();
    assert.deepEqual(await listGuarded(), tableNames.filter((name) => !writable.includes(name)).toSorted());
    // As with a table that an update has brought meanwhile.
    const drops = isSqlite
      ? ["insert", "update", "delete"].map((change) => `DROP TRIGGER read_only_job_lease_${change};`)
      : ["DROP TRIGGER read_only ON job_lease;"];
    await db.migrate((tx) => tx.script(drops.join("\n")));
    await leave();
    assert.deepEqual(await listGuarded(), []);
  });
});
