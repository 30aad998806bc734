import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { statement } from "../src/db/statement.ts";
import { noteUsageDays } from "../src/projects/usage/usage-days.ts";
import { createSessionToken, signInAs } from "./support/console-client.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";
import { createUploadClient, partPieces, putParts } from "./support/upload-client.ts";
import { keepReaperAway } from "./support/upload-life.ts";

const dayMs = 24 * 60 * 60 * 1000;
const countDays = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("usage_day")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("project_id", "=", p.projectId),
);

onAnyDatabase("usage by day", (database) => {
  let app: TestApp;
  let tenant: Tenant;

  before(async () => {
    app = await startApp({ database });
    await keepReaperAway(app);
    app.clock.setTime(Date.UTC(2026, 0, 30, 12));
    tenant = await app.createTenant("pro");
  });
  after(() => app.close());

  const upload = (times: number) =>
    Promise.all(Array.from({ length: times }, () => uploadFile(app, "12345", { key: tenant.live })));
  const shares = async (count: number) => {
    const owner = await signInAs(app, tenant.accountId);
    const { body } = await owner("GET", `/in/${tenant.projectId}/live/usage/days?days=${count}`);
    return body.days.map((day: { day: string; uploads: number; storageBytes: number }) => [
      day.day,
      day.uploads,
      day.storageBytes,
    ]);
  };

  test("each day gets its own share, today as it stands, and a new month starts at nothing", async () => {
    await upload(2);
    assert.deepEqual(await shares(1), [["2026-01-30", 2, 10]], "before anything was noted");
    await noteUsageDays(app.app.deps);
    app.clock.advance(dayMs);
    await upload(1);
    await noteUsageDays(app.app.deps);
    await upload(1);
    app.clock.advance(dayMs);
    await noteUsageDays(app.app.deps);
    await upload(3);
    assert.deepEqual(await shares(4), [
      ["2026-01-29", 0, 0],
      ["2026-01-30", 2, 10],
      ["2026-01-31", 2, 20],
      ["2026-02-01", 3, 35],
    ]);
  });

  test("days without a change need no row, and old ones are forgotten", async () => {
    await noteUsageDays(app.app.deps);
    const count = async () => (await app.app.deps.db.get(countDays, { projectId: tenant.projectId }))?.count;
    const before = await count();
    app.clock.advance(dayMs);
    await noteUsageDays(app.app.deps);
    assert.equal(await count(), before);
    assert.deepEqual(await shares(2), [
      ["2026-02-01", 3, 35],
      ["2026-02-02", 0, 35],
    ]);
    app.clock.advance(200 * dayMs);
    await noteUsageDays(app.app.deps);
    assert.equal(await count(), 0);
  });

  test("an upload that is completed in the next month counts to the last day of its own", async () => {
    app.clock.setTime(Date.UTC(2027, 0, 30, 12));
    tenant = await app.createTenant("pro");
    const client = createUploadClient(app, tenant.live);
    const pieces = partPieces();
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const nextDay = async () => {
      await noteUsageDays(app.app.deps);
      app.clock.advance(dayMs);
    };
    const deleted = await client.uploadPieces(pieces);
    const late = await client.init({ fileSize: bytes });
    const parts = await putParts(late, pieces);
    for (let day = 0; day < 3; day++) await nextDay();
    await upload(1);
    await nextDay();
    assert.equal((await client.remove(deleted.key)).status, 200);
    await nextDay();
    assert.equal((await client.completeParts(late, parts)).status, 200);
    await nextDay();
    assert.deepEqual(await shares(7), [
      ["2027-01-30", 1, bytes],
      ["2027-01-31", 1, bytes],
      ["2027-02-01", 0, bytes],
      ["2027-02-02", 1, bytes + 5],
      ["2027-02-03", 0, 5],
      ["2027-02-04", 0, bytes + 5],
      ["2027-02-05", 0, bytes + 5],
    ]);
  });

  test("a number of days that makes no sense is refused", async () => {
    const owner = await signInAs(app, tenant.accountId);
    for (const days of ["0", "91", "x"]) {
      assert.equal((await owner("GET", `/in/${tenant.projectId}/live/usage/days?days=${days}`)).status, 400);
    }
  });
});

onAnyDatabase("logs as they happen", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
  });
  after(() => app.close());

  async function watch(cookie: string, query = "", headers: Record<string, string> = {}) {
    const response = await fetch(`${app.url}/dashboard/api/in/${tenant.projectId}/live/logs/stream${query}`, {
      headers: { cookie, ...headers },
      signal: AbortSignal.timeout(60_000),
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
    assert.equal(response.headers.get("cache-control"), "no-store");
    return readEntries(response);
  }
  const rename = (name: string) =>
    app.call("PATCH", `projects/${tenant.projectId}`, { key: tenant.live, body: { name } });
  const enter = async () => `upstow_session=${await createSessionToken(app, tenant.accountId)}`;

  test("what happens comes by itself, once, and goes on where a broken stream ended", async () => {
    const cookie = await enter();
    const entries = await watch(cookie, "?type=project.updated");
    await rename("first");
    const first = await next(entries);
    assert.equal(first.data.message, 'Project was renamed to "first".');
    await app.call("POST", `projects/${tenant.projectId}/keys`, { key: tenant.live, body: { name: "k" } });
    await rename("second");
    const second = await next(entries);
    assert.equal(second.data.message, 'Project was renamed to "second".');
    await entries.return();
    await rename("third");
    const resumed = await watch(cookie, "?type=project.updated", { "last-event-id": second.id });
    const seen: string[] = [];
    while (!seen.includes('Project was renamed to "third".')) seen.push((await next(resumed)).data.message);
    await resumed.return();
    assert.equal(new Set(seen).size, seen.length);
  });

  test("a text is looked for in what happened and in what happens", async () => {
    const cookie = await enter();
    const owner = await signInAs(app, tenant.accountId);
    const find = async (query: Record<string, string>) => {
      const path = `/in/${tenant.projectId}/live/logs/search?${new URLSearchParams(query)}`;
      const { status, body } = await owner("GET", path);
      assert.equal(status, 200, JSON.stringify(body));
      return body.logs.map((log: { message: string }) => log.message);
    };
    await rename("100% Harbour");
    await rename("100 mountains");
    const harbour = 'Project was renamed to "100% Harbour".';
    assert.deepEqual(await find({ text: "hARBour" }), [harbour]);
    assert.deepEqual(await find({ text: "0%" }), [harbour]);
    assert.deepEqual(await find({ text: 'renamed to "100', limit: "1" }), [
      'Project was renamed to "100 mountains".',
    ]);
    assert.deepEqual(await find({ text: "harbour", type: "key.created" }), []);
    const future = new Date(app.clock.now() + dayMs).toISOString();
    assert.deepEqual(await find({ text: "harbour", since: future }), []);
    const key = await app.call("POST", `projects/${tenant.projectId}/keys`, { key: tenant.live, body: {} });
    assert.equal((await find({ text: key.body.key.id })).length, 1, "the data of an entry is searched too");
    const wrong = await owner("GET", `/in/${tenant.projectId}/live/logs/search?text=`);
    assert.equal(wrong.status, 400);

    const entries = await watch(cookie, "?text=WANTED");
    await rename("other");
    await rename("the wanted one");
    assert.equal((await next(entries)).data.message, 'Project was renamed to "the wanted one".');
    await entries.return();
  });

  test("a stream ends with its session, before anything more is sent", async () => {
    const cookie = await enter();
    const entries = await watch(cookie, "?type=router.created");
    const out = await app.call("POST", "/dashboard/api/sign-out", { headers: { cookie, origin: app.url } });
    assert.equal(out.status, 200);
    await app.call("POST", `projects/${tenant.projectId}/routers`, {
      key: tenant.live,
      body: { slug: "late" },
    });
    assert.equal((await entries.next()).done, true);
  });

  test("other sites cannot listen, and nobody keeps too many open", async () => {
    const cookie = await enter();
    const headers = { cookie, "sec-fetch-site": "cross-site" };
    const path = `${app.url}/dashboard/api/in/${tenant.projectId}/live/logs/stream`;
    assert.equal((await fetch(path, { headers })).status, 403);
    const open = await Promise.all(Array.from({ length: 10 }, () => watch(cookie)));
    const refused = await fetch(path, { headers: { cookie } });
    assert.equal(refused.status, 429);
    await Promise.all(open.map((entries) => entries.return()));
  });
});

interface Entry {
  id: string;
  data: { message: string };
}

async function next(entries: AsyncGenerator<Entry, void, void>): Promise<Entry> {
  const { value, done } = await entries.next();
  if (done === true || value === undefined) throw new Error("the stream ended");
  return value;
}

async function* readEntries(response: Response): AsyncGenerator<Entry, void, void> {
  let text = "";
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const id = /^id: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (id !== undefined && data !== undefined) yield { id, data: JSON.parse(data) };
    }
  }
}
