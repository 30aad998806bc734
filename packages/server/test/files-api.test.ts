import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { deleteFiles } from "../src/files/delete-files.ts";
import { runDeletions } from "../src/files/storage-deletions.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { type Answer, onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import { createUploadClient, put, smallBody, type UploadClient } from "./support/upload-client.ts";

const listFields = [
  "access",
  "expiresAt",
  "claimBy",
  "detectedType",
  "scan",
  "id",
  "key",
  "name",
  "size",
  "type",
  "url",
  "status",
  "sha256",
  "createdAt",
].sort();
const fullFields = [...listFields, "image", "metadata", "updatedAt"].sort();

onBothDatabases("files", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let sandbox: UploadClient;
  let stranger: UploadClient;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    sandbox = createUploadClient(app, tenant.test);
    stranger = createUploadClient(app, (await app.createTenant("pro")).live);
  });
  after(async () => {
    await assertCountersMatch(app, tenant.projectId);
    await app.close();
  });

  it("shows exactly the fields of a list item and of a single file", async () => {
    const { key } = await client.upload(smallBody, { metadata: { a: 1 } });
    const single = await client.get(key);
    assert.equal(single.status, 200);
    assert.deepEqual(Object.keys(single.body), ["file"]);
    assert.deepEqual(Object.keys(single.body.file).sort(), fullFields);
    const list = await client.list();
    assert.deepEqual(Object.keys(list.body).sort(), ["files", "hasMore", "nextCursor"]);
    assert.deepEqual(Object.keys(list.body.files[0]).sort(), listFields);
    const { image, metadata, updatedAt, ...item } = single.body.file;
    assert.equal(image, null);
    assert.deepEqual(list.body.files[0], item);
    assert.deepEqual(metadata, { a: 1 });
    assert.ok(updatedAt >= item.createdAt);
  });

  it("defaults metadata to an empty object and shows open files without a hash", async () => {
    const { key } = await client.request();
    const { file } = (await client.get(key)).body;
    assert.deepEqual([file.metadata, file.status, file.sha256], [{}, "UPLOADING", null]);
  });

  describe("keys and addresses of names that are hard to write", () => {
    const bidi = "\u202e";
    const rows: { name: string; inKey?: string }[] = [
      { name: "with space.txt" },
      { name: "100%.txt" },
      { name: "100%25.txt" },
      { name: "a%2Fb.txt" },
      { name: "what?.txt" },
      { name: "#1.txt" },
      { name: "a+b&c=d;e,f.txt" },
      { name: "emoji 🎉👩‍👩‍👧.txt" },
      { name: "中文 עברית ไทย.txt" },
      { name: "'single' \"double\" `tick`.txt" },
      { name: "<script>alert(1)</script>.html", inKey: "<script>alert(1)<_script>.html" },
      { name: "..", inKey: "__" },
      { name: "../../../etc/passwd", inKey: "__/../../etc/passwd".replaceAll("/", "_") },
      { name: "..\\..\\windows\\win.ini", inKey: "__".concat("_.._windows_win.ini") },
      { name: "%2e%2e%2fetc%2fpasswd" },
      { name: "%252e%252e/x", inKey: "%252e%252e_x" },
      { name: "．．／etc" },
      { name: "C:\\autoexec.bat", inKey: "C:_autoexec.bat" },
      { name: "C:" },
      { name: ".htaccess", inKey: "_htaccess" },
      { name: "line\r\nbreak.txt", inKey: "line__break.txt" },
      { name: "tab\tbell\u0007\u007f\u0085.txt", inKey: "tab_bell___.txt" },
      { name: `${bidi}gpj.exe` },
      { name: "trailing dot.", inKey: "trailing dot." },
      { name: " " },
      { name: "e\u0301.txt", inKey: "\u00e9.txt" },
      { name: "CON" },
      { name: "a/", inKey: "a_" },
      { name: "~" },
      { name: "__proto__" },
    ];
    for (const { name, inKey = name } of rows) {
      it(JSON.stringify(name), async () => {
        const file = await client.upload(smallBody, { fileName: name });
        assert.equal(file.name, name, "the name is kept as it came");
        const segments = file.key.split("/");
        assert.equal(segments.length, 4);
        assert.equal(segments[3], inKey);

        const encoded = await client.get(file.key);
        assert.equal(encoded.status, 200);
        assert.equal(encoded.body.file.id, file.id);
        const bare = await app.call("GET", `files/${segments.map(encodeURIComponent).join("/")}`, {
          key: client.key,
        });
        assert.equal(bare.status, 200);
        assert.equal(bare.body.file.id, file.id);
        const served = await fetch(file.url);
        assert.equal(served.status, 200);
        assert.equal(await served.text(), smallBody.toString());
        assert.equal((await client.patch(file.key, { metadata: { x: 1 } })).status, 200);
        assert.equal((await client.remove(file.key)).status, 200);
        assert.equal((await fetch(file.url)).status, 404);
      });
    }

    it("twins in NFC and NFD are two files", async () => {
      const [nfc, nfd] = [
        await client.upload(Buffer.from("nfc"), { fileName: "é.txt" }),
        await client.upload(Buffer.from("nfd"), { fileName: "e\u0301.txt" }),
      ];
      assert.notEqual(nfc.key, nfd.key);
      assert.equal(await (await fetch(nfc.url)).text(), "nfc");
      assert.equal(await (await fetch(nfd.url)).text(), "nfd");
    });

    it("a key that no file has is 404, whatever it looks like", async () => {
      const keys = ["x", "../x", "..%2f..%2f", "%ff", "a//b", "\\", "a".repeat(3000), "\u0000", "%E0%80%AF"];
      for (const key of keys) {
        const answer = await client.get(key);
        assert.ok([400, 404].includes(answer.status), `${key}: ${answer.status}`);
      }
      for (const path of [
        "files/%ff",
        "files/..%2f..%2fetc%2fpasswd",
        "files/%c0%ae%c0%ae%2f",
        "files/%00",
      ]) {
        const answer = await app.call("GET", path, { key: client.key });
        assert.ok([400, 404].includes(answer.status), `${path}: ${answer.status}`);
        assert.ok(answer.body.error.code);
      }
    });
  });

  describe("changing metadata", () => {
    it("replaces, never merges, moves updatedAt only and answers with the full file", async () => {
      const { key } = await client.upload(smallBody, { metadata: { a: 1, b: 2 } });
      const before = (await client.get(key)).body.file;
      app.clock.advance(5000);
      const patched = await client.patch(key, { metadata: { c: 3 }, status: "FAILED", size: 1, key: "x" });
      assert.equal(patched.status, 200);
      const { file } = patched.body;
      assert.deepEqual(Object.keys(file).sort(), fullFields);
      assert.ok(Date.parse(file.updatedAt) >= Date.parse(before.updatedAt) + 5000);
      assert.deepEqual(file, { ...before, metadata: { c: 3 }, updatedAt: file.updatedAt });
      assert.deepEqual((await client.get(key)).body.file, file);
    });

    it("needs the field, and a file", async () => {
      const { key } = await client.upload();
      for (const body of [{}, { metadata: null }, { metadata: [] }, { metadata: "x" }])
        expectInvalid(await client.patch(key, body), "metadata");
      for (const other of [stranger, sandbox])
        expectError(await other.patch(key, { metadata: {} }), 404, "NOT_FOUND");
      await client.remove(key);
      expectError(await client.patch(key, { metadata: {} }), 404, "NOT_FOUND");
    });
  });

  describe("deleting", () => {
    it("kills the address at once, hides the file and counts once", async () => {
      const before = await client.usage();
      const file = await client.upload();
      assert.equal((await client.usage()).storageBytes, before.storageBytes + file.size);
      for (const other of [stranger, sandbox]) expectError(await other.remove(file.key), 404, "NOT_FOUND");
      const removed = await client.remove(file.key);
      assert.deepEqual([removed.status, removed.body], [200, { ok: true }]);
      assert.equal((await fetch(file.url)).status, 404);
      expectError(await client.get(file.key), 404, "NOT_FOUND");
      expectError(await client.remove(file.key), 404, "NOT_FOUND");
      const after = await client.usage();
      assert.equal(after.storageBytes, before.storageBytes);
      assert.equal(after.uploads, before.uploads + 1, "an upload that was made stays counted");
    });

    it("in bulk: 200 when all go, 207 when some do, 404 when none does", async () => {
      const [a, b, c] = [await client.upload(), await client.upload(), await client.upload()];
      const open = await client.request();
      const foreign = await stranger.upload();

      const all = await client.removeAll([a.key, a.key, open.key]);
      assert.equal(all.status, 200);
      assert.deepEqual(all.body, { deleted: 2, failed: 0, failures: [], reclaimedBytes: smallBody.length });

      const some = await client.removeAll([b.key, a.key, "nope", foreign.key, a.key, c.key]);
      assert.equal(some.status, 207);
      assert.deepEqual(some.body, {
        deleted: 2,
        failed: 3,
        failures: [a.key, "nope", foreign.key].map((key) => ({
          key,
          code: "NOT_FOUND",
          message: "File not found.",
        })),
        reclaimedBytes: 2 * smallBody.length,
      });

      const none = await client.removeAll([a.key, foreign.key]);
      assert.equal(none.status, 404);
      assert.deepEqual(Object.keys(none.body).sort(), [
        ...["deleted", "error", "failed", "failures", "reclaimedBytes"],
      ]);
      assert.deepEqual([none.body.deleted, none.body.failed, none.body.reclaimedBytes], [0, 2, 0]);
      assert.equal(none.body.error.code, "NOT_FOUND");
      assert.equal(none.body.error.type, "invalid_request");
      assert.equal((await fetch(foreign.url)).status, 200, "a foreign file is untouched");
      assert.equal((await put(open.uploadUrl, smallBody)).status, onDisk ? 403 : 200);
    });

    it("in bulk takes 1 to 100 keys and is one statement for all", async () => {
      const uploads = await Promise.all(Array.from({ length: 100 }, () => client.request()));
      const keys = uploads.map((upload) => upload.key);
      for (const wrong of [[], [...keys, "x"], "x", undefined, [1], [""], null])
        expectError(await client.removeAll(wrong), 400, "VALIDATION_ERROR");
      const answer = await client.removeAll(keys);
      assert.deepEqual([answer.status, answer.body.deleted, answer.body.reclaimedBytes], [200, 100, 0]);
    });

    it("is finished by the queue where the process that began it went away", async () => {
      const file = await client.upload();
      const { db, store } = app.app.deps;
      const scope = { projectId: tenant.projectId, environment: "live" as const };
      await db.transact((tx) => deleteFiles(tx, app.clock.now(), scope, [file.key]));
      assert.equal((await fetch(file.url)).status, 404, "dead with the commit");
      await runDeletions(app.app.deps);
      assert.notEqual(await store.head(file.key), null, "left to whoever deleted it for a while");
      app.clock.advance(60_000);
      await runDeletions(app.app.deps);
      assert.equal(await store.head(file.key), null);
    });

    it("of an open file sets it DELETED, releases what it reserved and reclaims nothing", async () => {
      const before = await client.usage();
      const upload = await client.request();
      await put(upload.uploadUrl, smallBody);
      assert.equal((await client.remove(upload.key)).status, 200);
      expectError(await client.complete(upload.fileId), 404, "NOT_FOUND");
      assert.deepEqual(await client.usage(), before);
      await assertCountersMatch(app, tenant.projectId);
    });
  });

  describe("listing", () => {
    it("keeps to its limits", async () => {
      for (const limit of ["0", "101", "-1", "1.5", "abc", "", "1e1x", "NaN", "1&limit=2"])
        expectError(await client.list(`?limit=${limit}`), 400, "VALIDATION_ERROR");
      for (const limit of [1, 100]) assert.equal((await client.list(`?limit=${limit}`)).status, 200);
      const { nextCursor } = (await client.list("?limit=1")).body;
      const flipped = (nextCursor[3] === "a" ? "b" : "a") + nextCursor.slice(4);
      const damaged = ["x", "", `${nextCursor}x`, nextCursor.slice(1), nextCursor.slice(0, 3) + flipped];
      for (const cursor of [...damaged, "%00", "..%2f", "a".repeat(5000)])
        expectError(await client.list(`?cursor=${cursor}`), 400, "VALIDATION_ERROR");
    });

    it("is 50 long by default, newest first, and ends with a null cursor", async () => {
      const lister = createUploadClient(app, (await app.createTenant("pro")).live);
      assert.deepEqual((await lister.list()).body, { files: [], nextCursor: null, hasMore: false });
      const made: string[] = [];
      for (let i = 0; i < 52; i++) {
        app.clock.advance(1);
        made.unshift((await lister.request()).fileId);
      }
      const first = (await lister.list()).body;
      assert.deepEqual([first.files.length, first.hasMore], [50, true]);
      const second = (await lister.list(`?cursor=${first.nextCursor}`)).body;
      assert.deepEqual([second.files.length, second.hasMore, second.nextCursor], [2, false, null]);
      assert.deepEqual([...first.files, ...second.files].map(idOf), made);
      const exact = (await lister.list("?limit=52")).body;
      assert.deepEqual([exact.hasMore, exact.nextCursor], [false, null]);
    });

    it("holds the files of its own environment and project only, never deleted ones", async () => {
      const own = await app.createTenant("pro");
      const [live, test] = [createUploadClient(app, own.live), createUploadClient(app, own.test)];
      const a = await live.upload();
      const b = await test.upload();
      const gone = await live.upload();
      await live.remove(gone.key);
      assert.deepEqual((await live.list()).body.files.map(idOf), [a.id]);
      assert.deepEqual((await test.list()).body.files.map(idOf), [b.id]);
    });

    it("neither repeats nor skips while files are added and deleted", async () => {
      const own = createUploadClient(app, (await app.createTenant("pro")).live);
      const old = await Promise.all(Array.from({ length: 60 }, () => own.request()));
      const doomed = new Set(old.filter((_, i) => i % 7 === 3).map((upload) => upload.fileId));
      let adding = true;
      const adders = [1, 2, 3].map(async () => {
        while (adding) await own.request();
      });
      const seen: string[] = [];
      let cursor: string | null = null;
      let round = 0;
      do {
        const page: Answer = await own.list(`?limit=7${cursor === null ? "" : `&cursor=${cursor}`}`);
        assert.equal(page.status, 200);
        assert.equal(page.body.hasMore, page.body.nextCursor !== null);
        seen.push(...page.body.files.map(idOf));
        cursor = page.body.nextCursor;
        if (round++ === 1) await own.removeAll(old.filter((u) => doomed.has(u.fileId)).map((u) => u.key));
      } while (cursor !== null);
      adding = false;
      await Promise.all(adders);
      assert.equal(new Set(seen).size, seen.length, "no file twice");
      assert.deepEqual(seen, [...seen].sort().reverse(), "newest first");
      const kept = old.map((upload) => upload.fileId).filter((id) => !doomed.has(id));
      assert.deepEqual(
        kept.filter((id) => !seen.includes(id)),
        [],
        "no file left out",
      );
    });
  });
});

function idOf(file: { id: string }): string {
  return file.id;
}
