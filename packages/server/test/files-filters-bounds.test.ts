import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { LIST_SCAN_MAX_BYTES, LIST_SCAN_MAX_ROWS } from "@upstow/contract";
import { statement } from "../src/db/statement.ts";
import { insertManyFiles } from "./support/many-files.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";

const fileCount = 2 * LIST_SCAN_MAX_ROWS + 100;
const countProjects = statement((q, _: object) => q.selectFrom("project").select("id").limit(1));

onBothDatabases("a filter over many files", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;

  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  async function enter(count: number, describe: (index: number) => object): Promise<void> {
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    await insertManyFiles(app, { projectId: tenant.projectId, count, describe });
  }

  /** All pages that a filter has. */
  async function walk(query: string) {
    const pages: string[][] = [];
    for (let cursor = ""; ; ) {
      const { status, body } = await client.list(`?limit=100&${query}${cursor}`);
      assert.equal(status, 200, JSON.stringify(body));
      pages.push(body.files.map((file: { name: string }) => file.name));
      assert.equal(body.hasMore, body.nextCursor !== null);
      if (!body.hasMore) return pages;
      cursor = `&cursor=${body.nextCursor}`;
    }
  }

  test("reads so many rows a call, and goes on where it stopped", async () => {
    const nameOf = (index: number) => (index < 3 ? `Óld-${index}` : index % 2 ? "odd.txt" : "éven.txt");
    await enter(fileCount, (index) => ({
      name: nameOf(index),
      ...(index < 2 ? { status: "FAILED", route_slug: "archive" } : {}),
    }));
    for (const [query, found] of [
      ["routeSlug=archive", ["Óld-1", "Óld-0"]],
      ["name=ld-", ["Óld-2", "Óld-1", "Óld-0"]],
      ["metadata.index=1", ["Óld-1"]],
      ["status=UPLOADING", []],
      ["type=video/webm", []],
      ["prefix=nowhere", []],
      ["name=nothing&metadata.index=1", []],
    ] as const) {
      const pages = await walk(query);
      assert.deepEqual(pages.flat(), found, query);
      assert.equal(pages.length, 3, `${query}: ${pages.length} calls`);
    }
    const letters = await walk("name=%C3%93LD-");
    assert.deepEqual(letters.flat(), ["Óld-2", "Óld-1", "Óld-0"]);
    const dropped = await walk("name=%C3%A9ven.tx%C3%A9");
    assert.deepEqual(dropped.flat(), []);
    assert.ok(dropped.length > 9, `rows that are dropped here count more: ${dropped.length} calls`);
  });

  test("needs one call where an index serves", async () => {
    assert.deepEqual(await walk("status=FAILED"), [["Óld-1", "Óld-0"]]);
    assert.deepEqual(await walk("status=FAILED&name=0"), [["Óld-0"]]);
    const [oldest] = (await client.list("?status=FAILED&limit=1")).body.files;
    assert.deepEqual(await walk(`until=${oldest.createdAt}`), [["Óld-0"]]);
    const [, , id] = oldest.key.split("/");
    assert.deepEqual(await walk(`prefix=${encodeURIComponent(`clips/${id}/`)}`), [["Óld-1"]]);
    assert.deepEqual(await walk(`prefix=clips/${id.slice(0, 9)}&since=${oldest.createdAt}&name=LD-1`), [
      ["Óld-1"],
    ]);
    assert.deepEqual(await walk("status=DELETED"), [[]]);
    assert.deepEqual(await walk("prefix=clips/NOID"), [[]]);
  });

  test("reads so many bytes of metadata a call, and no more of what almost matches", async () => {
    const near = JSON.stringify({ list: Array.from({ length: 1_400 }, () => ({ k: "vv" })) });
    const count = 300;
    await enter(count, () => ({ metadata: near }));
    const least = (count * near.length) / LIST_SCAN_MAX_BYTES;
    for (const query of ["metadata.k=vv", "metadata.k=none", "metadata.k=vv&name=x"]) {
      const pages = await walk(query);
      assert.deepEqual(pages.flat(), []);
      assert.ok(pages.length >= least && pages.length < 4 * least, `${query}: ${pages.length} calls`);
    }
    const { body } = await client.list("?include=metadata&limit=100");
    assert.deepEqual([body.files.length, body.files[0].metadata], [100, JSON.parse(near)]);
  });

  test("waits for its turn to list metadata, too", async () => {
    const letGo = Promise.withResolvers<void>();
    const other = app.app.deps.turns.take("another account", () => letGo.promise);
    const many = Array.from({ length: 40 }, async () => {
      const { status } = await client.list("?include=metadata&limit=100");
      return status;
    });
    const first = await Promise.race(many);
    letGo.resolve();
    assert.equal(first, 429, "none is read before its turn");
    await other;
    assert.deepEqual([...new Set(await Promise.all(many))].sort(), [200, 429]);
  });

  test("takes turns with others, and a flood of them is refused", async () => {
    let isRunning = true;
    let served = 0;
    const others = (async () => {
      while (isRunning) {
        await app.app.deps.db.get(countProjects, {});
        await new Promise((resolve) => setImmediate(resolve));
        served++;
      }
    })();
    const many = await Promise.all(Array.from({ length: 60 }, () => client.list("?metadata.k=vv")));
    isRunning = false;
    await others;
    assert.deepEqual([...new Set(many.map(({ status }) => status))].sort(), [200, 429]);
    const refused = many.find(({ status }) => status === 429);
    assert.deepEqual(
      [
        refused?.body.error.code,
        refused?.headers.get("retry-after"),
        "suggestion" in (refused?.body.error ?? {}),
      ],
      ["RATE_LIMITED", "5", false],
    );
    assert.ok(served >= 16, `${served} served meanwhile`);
    assert.equal((await client.list("?metadata.k=vv")).status, 200);
  });
});
