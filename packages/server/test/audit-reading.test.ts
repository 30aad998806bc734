import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { type AuditEntry, SEARCHES_WAITING_MAX } from "@upstow/contract";
import { STEP_ROWS } from "../src/db/job-leases.ts";
import { serviceAuthor } from "../src/kernel/actor.ts";
import { findEntries, forgetOldEntries } from "../src/projects/audit/read-trail.ts";
import { record } from "../src/projects/audit/record.ts";
import { listTrail } from "./support/audit-trail.ts";
import { createSessionToken } from "./support/console-client.ts";
import { expectError } from "./support/expect-error.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";

onAnyDatabase("the entries of the audit trail", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  const cookieFor = async (accountId: string) => ({
    origin: app.url,
    cookie: `upstow_session=${await createSessionToken(app, accountId)}`,
  });

  it("shows owners their project's entries, people their own, and the installation's owner all", async () => {
    const read = async (accountId: string, path: string) => {
      const answer = await app.call("GET", `/dashboard/api${path}`, { headers: await cookieFor(accountId) });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    };
    const tenant = await app.createTenant("pro");
    const rotate = (headers: Record<string, string>, path: string) =>
      app.call("POST", path, { headers, body: { force: true } });
    await rotate({ authorization: `Bearer ${tenant.live}` }, "webhooks/signing-keys/rotate");
    for (const slug of ["a", "b", "c", "d", "e"])
      await app.call("POST", `projects/${tenant.projectId}/routers`, { key: tenant.live, body: { slug } });
    const dashboard = `/dashboard/api/in/${tenant.projectId}/live`;
    await rotate(await cookieFor(tenant.accountId), `${dashboard}/webhooks/signing-keys/rotate`);
    const ofProject = (query: string) =>
      read(tenant.accountId, `/projects/${tenant.projectId}/audit?${query}`);
    const { entries } = await ofProject("limit=100");
    assert.equal(entries.length, 10);
    assert.ok(entries.every(({ projectId }: AuditEntry) => projectId === tenant.projectId));
    const [newest] = entries;
    assert.deepEqual(newest.author, { kind: "user", id: tenant.accountId, name: tenant.email });

    const byKey = (await ofProject("limit=100&author=LIVE")).entries;
    assert.equal(byKey.length, 6);
    assert.ok(byKey.every(({ author }: AuditEntry) => author.kind === "key" && author.name === "live"));
    const rotations = (await ofProject("action=signing-keys.rotated")).entries;
    assert.equal(rotations.length, 2);
    assert.deepEqual(
      (await ofProject(`since=${new Date(Date.now() + 3_600_000).toISOString()}`)).entries,
      [],
    );

    const paged: AuditEntry[] = [];
    for (let cursor = ""; ; ) {
      const page = await ofProject(`limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`);
      paged.push(...page.entries);
      if (!page.hasMore) break;
      cursor = page.nextCursor;
    }
    assert.deepEqual(paged, entries);

    const own = await read(tenant.accountId, "/account/audit?limit=100");
    assert.ok(own.entries.every(({ accountId }: AuditEntry) => accountId === tenant.accountId));
    const all = await read(app.owner.accountId, "/admin/audit?limit=100&action=session.created");
    assert.ok(new Set(all.entries.map(({ accountId }: AuditEntry) => accountId)).size > 1);
  });

  it("is exported whole, by a filter, and so that a spreadsheet runs nothing", async () => {
    const { db, now } = app.app.deps;
    const { projectId } = await app.createTenant("free");
    const count = 450;
    await db.transact(async (tx) => {
      for (let i = 0; i < count; i++)
        await record(
          tx,
          now(),
          { ...serviceAuthor, name: '=HYPERLINK("https://evil.example")' },
          {
            action: "project.updated",
            target: { kind: "project", id: projectId, label: `number ${i}` },
            projectId,
          },
        );
    });
    const headers = await cookieFor(app.owner.accountId);
    const download = async (query: string) => {
      const answer = await fetch(`${app.url}/dashboard/api/admin/audit/export?${query}`, { headers });
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get("content-disposition") ?? "", /^attachment; filename="audit-log\./);
      return answer.text();
    };
    const lines = (await download("format=jsonl&action=project.updated&author=evil")).trimEnd().split("\n");
    const labels = lines.map((line) => (JSON.parse(line) as AuditEntry).target.label);
    assert.deepEqual(
      labels.reverse(),
      Array.from({ length: count }, (_, i) => `number ${i}`),
    );
    const csv = (await download("format=csv&author=evil")).trimEnd().split("\r\n");
    assert.equal(csv.length, count + 1);
    assert.match(csv[1] ?? "", /,service,,"'=HYPERLINK\(""https:\/\/evil\.example""\)",/);
  });

  it("continues after very many entries that do not match", async () => {
    const { db, turns, now } = app.app.deps;
    const { projectId, accountId } = await app.createTenant("free");
    const reader = { db, turns, accountId };
    const target = { kind: "project", id: projectId } as const;
    await db.transact(async (tx) => {
      await record(tx, now(), serviceAuthor, { action: "project.purged", target, projectId });
      for (let i = 0; i < 450; i++)
        await record(tx, now(), serviceAuthor, { action: "project.updated", target, projectId });
    });
    const filter = { from: "", before: "~", action: "project.purged" } as const;
    const first = await findEntries(reader, { projectId }, filter, 10, 400);
    assert.deepEqual(first.rows, []);
    const before = first.scannedTo ?? "";
    const second = await findEntries(reader, { projectId }, { ...filter, before }, 10, 400);
    assert.deepEqual([second.rows.length, second.scannedTo], [1, null]);
  });

  it("is read in turns with searches of all accounts, and a flood of readers is turned away", async (t) => {
    const { turns } = app.app.deps;
    const { accountId, projectId } = await app.createTenant("free");
    const headers = await cookieFor(accountId);
    const read = (path: string) => app.call("GET", `/dashboard/api${path}`, { headers });
    const paths = [`/projects/${projectId}/audit`, "/account/audit"].flatMap((path) => [
      path,
      `${path}/export?author=nobody`,
    ]);
    const letGo = Promise.withResolvers<void>();
    t.after(() => letGo.resolve());
    const other = turns.take("another account", () => letGo.promise);
    let answered = 0;
    const started = paths.map((path) => read(path).finally(() => answered++));
    while (turns.waitingOf(accountId) < paths.length) {
      assert.equal(answered, 0, "nobody reads out of turn");
      await wait(5);
    }
    const more = Array.from({ length: SEARCHES_WAITING_MAX - paths.length }, () =>
      turns.take(accountId, async () => {}),
    );
    for (const path of paths) expectError(await read(path), 429, "RATE_LIMITED");
    letGo.resolve();
    await Promise.all([other, ...more]);
    for (const { status } of await Promise.all(started)) assert.equal(status, 200);
  });

  it("is forgotten after its retention", async () => {
    const { db } = app.app.deps;
    const { projectId } = await app.createTenant("free");
    const at = app.clock.now() - 366 * 24 * 60 * 60 * 1000;
    const target = { kind: "project", id: projectId } as const;
    await db.transact(async (tx) => {
      for (let i = 0; i < STEP_ROWS + 3; i++)
        await record(tx, at, serviceAuthor, { action: "project.updated", target, projectId });
    });
    const before = await listTrail(app);
    await forgetOldEntries(app.app.deps, new AbortController().signal);
    assert.deepEqual(
      await listTrail(app),
      before.filter((row) => row.created_at > at),
    );
    assert.equal(before.filter((row) => row.created_at === at).length, STEP_ROWS + 3);
  });
});
