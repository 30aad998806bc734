import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { statement } from "../src/db/statement.ts";
import { insertCountedLink, noteUse } from "../src/serving/links/queries.ts";
import { forgetEndedLinks } from "../src/serving/links/revoke-links.ts";
import { expectError } from "./support/expect-error.ts";
import { createPrivateReader, expectBytes, type PrivateReader, read } from "./support/private-reader.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { createUploadClient, smallBody } from "./support/upload-client.ts";

const countOf = (table: "counted_link" | "counted_link_use" | "audience_revocation") =>
  statement((q, _: object) => q.selectFrom(table).select((e) => e.fn.countAll<number>().as("count")));
const countUses = countOf("counted_link_use");
const countLinks = countOf("counted_link");
const countRevocations = countOf("audience_revocation");

const endedLink = { file_id: "none", max_uses: 1_000, uses: 0, created_at: 1, expires_at: 1 };

onBothDatabases("links to private files", (database) => {
  let app: TestApp;
  let reader: PrivateReader;
  before(async () => {
    app = await startApp({ database });
    reader = createPrivateReader(createUploadClient(app, (await app.createTenant("pro")).live));
  });
  after(() => app.close());

  it("with one use open to one of a hundred", async () => {
    const file = await reader.privately();
    const url = await reader.linkTo(file.key, { maxUses: 1 });
    assert.equal((await read(url, { method: "HEAD" })).status, 200);
    assert.equal((await read(url, { headers: { range: "bytes=99-" } })).status, 416);
    const answers = await Promise.all(Array.from({ length: 100 }, () => read(url)));
    const got = answers.filter(({ status }) => status === 200);
    assert.equal(got.length, 1);
    assert.equal(got[0]?.headers.get("cache-control"), "no-store");
    for (const answer of answers)
      if (answer.status !== 200) assert.equal(expectError(answer, 403, "FORBIDDEN").message, "used up");
    const late = { "user-agent": "somebody else" };
    assert.equal((await read(url, { method: "HEAD", headers: late })).status, 403);
    assert.equal((await read(url, { headers: { ...late, range: "bytes=99-" } })).status, 403);
  });

  it("count a whole file as a use, though a range was asked for", async () => {
    const file = await reader.privately();
    const url = await reader.linkTo(file.key, { maxUses: 3 });
    for (const [range, left] of [
      ["bytes=1-2", true],
      ["bytes=99-", true],
      ["bytes=1-2,4-5", true],
      ["bytes=1-2", false],
      ["bytes=99-", false],
    ] as const) {
      const answer = await read(url, { headers: { range, "if-range": '"another"' } });
      if (left) assert.deepEqual([answer.status, answer.bytes], [200, smallBody]);
      else assert.equal(expectError(answer, 403, "FORBIDDEN").message, "used up");
    }
  });

  it("let the ranges of one client be one use, for ten minutes", async () => {
    const file = await reader.privately();
    const url = await reader.linkTo(file.key, { maxUses: 2, expiresIn: 86_400 });
    const range = (agent: string) => read(url, { headers: { range: "bytes=1-2", "user-agent": agent } });
    for (let i = 0; i < 3; i++) assert.equal((await range("a")).status, 206);
    assert.equal((await read(url, { headers: { "user-agent": "b" } })).status, 200);
    for (let i = 0; i < 3; i++) assert.equal((await range("b")).status, 206);
    assert.equal((await range("c")).status, 403);
    app.clock.advance(600_001);
    assert.equal((await range("a")).status, 403);
  });

  it("leave no rows behind that no link needs any more", async () => {
    const file = await reader.privately({ audience: "old" });
    const url = await reader.linkTo(file.key, { maxUses: 1, expiresIn: 60 });
    await expectBytes(url);
    await reader.revoke({ audience: "old" });
    const { deps } = app.app;
    const counts = async () => [
      await deps.db.get(countUses, {}),
      await deps.db.get(countLinks, {}),
      await deps.db.get(countRevocations, {}),
    ];
    app.clock.advance(8 * 86_400_000);
    assert.ok((await counts()).every((row) => Number(row?.count) > 0));
    // More uses than one step removes, of more links than one step removes.
    await deps.db.transact(async (tx) => {
      for (let link = 0; link < 600; link++) {
        const id = `ended-${link}`;
        await tx.run(insertCountedLink, { ...endedLink, id });
        for (let use = 0; use < (link === 0 ? 600 : 1); use++)
          await tx.run(noteUse, { linkId: id, client: String(use), now: 1 });
      }
    });
    const changed: number[] = [];
    const run: typeof deps.db.run = async (...call) => {
      const rows = await deps.db.run(...call);
      changed.push(rows);
      return rows;
    };
    await forgetEndedLinks({ ...deps, db: { ...deps.db, run } }, new AbortController().signal);
    assert.ok(Math.max(...changed) <= 500, changed.join(" "));
    assert.deepEqual(
      (await counts()).map((row) => Number(row?.count)),
      [0, 0, 0],
    );
  });
});
