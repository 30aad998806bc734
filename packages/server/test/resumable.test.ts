import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, it } from "node:test";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createDraftClient, type DraftResponse, partialUpload, some } from "./support/tus/draft-client.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";

const problemType = (name: string) => `https://iana.org/assignments/http-problem-types#${name}`;

onBothDatabases("IETF resumable uploads", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
  });
  after(() => app.close());

  for (const version of ["5", "6", "8"]) {
    const draftClient = () => createDraftClient(app.url, tenant.live, version);
    type Client = ReturnType<typeof draftClient>;
    const send: Client["send"] = (...given) => draftClient().send(...given);
    const create: Client["create"] = (...given) => draftClient().create(...given);
    const open: Client["open"] = (...given) => draftClient().open(...given);
    const append: Client["append"] = (...given) => draftClient().append(...given);
    const head: Client["head"] = (...given) => draftClient().head(...given);
    async function assertStored(done: DraftResponse, bytes: Uint8Array) {
      assert.equal(done.status, 200, JSON.stringify(done.body));
      assert.equal(done.headers["upload-complete"], "?1");
      const { file } = (await client.get(String(done.headers["upstow-file-id"]))).body;
      assert.equal(file.status, "UPLOADED");
      assert.equal(done.body.file.id, file.id);
      assert.deepEqual(Buffer.from(await (await fetch(file.url)).arrayBuffer()), Buffer.from(bytes));
      return file;
    }

    it(`version ${version}: creates uploads, empty, partial and whole`, async () => {
      const whole = await create(
        { "upload-complete": "?1", "upload-length": "5", "content-type": "text/plain" },
        some(5),
      );
      assert.equal((await assertStored(whole, some(5))).type, "text/plain");
      const asHeld = await head(whole.headers.location ?? "");
      assert.deepEqual(
        [asHeld.status, asHeld.headers["upload-offset"], asHeld.headers["upload-complete"]],
        [204, "5", "?1"],
      );
      assert.equal((await send("DELETE", whole.headers.location ?? "")).status, 404);
      const untyped = await create({ "upload-complete": "?1", "content-type": "picture" }, some(5));
      assert.equal((await assertStored(untyped, some(5))).type, "application/octet-stream");
      await assertStored(await create({ "upload-complete": "?1" }, some(9)), some(9));
      await assertStored(await create({ "upload-complete": "?1", "upload-length": "0" }), some(0));

      const part = await create({ "upload-complete": "?0", "upload-length": "100" }, some(32));
      assert.equal(part.status, 201);
      assert.equal(part.headers["upload-complete"], "?0");
      assert.equal(part.headers["upload-offset"], "32");
      assert.match(String(part.headers["upload-limit"]), /^max-size=100, min-size=0, max-age=\d+$/);
      assert.equal(part.headers["upload-draft-interop-version"], version);
      assert.deepEqual(
        part.early.map(({ location }) => location),
        [part.headers.location],
      );
      const name = { "content-disposition": "inline; filename*=UTF-8''na%C3%AFve.txt; filename=plain.txt" };
      const named = await create({ "upload-complete": "?1", ...name }, some(3));
      assert.equal((await assertStored(named, some(3))).name, "naïve.txt");
    });

    it(`version ${version}: appends, tells the offset and ends`, async () => {
      const bytes = randomBytes(200_000);
      const url = await open(bytes.length);
      const first = await append(url, 0, false, bytes.subarray(0, 70_000));
      assert.equal(first.status, 204);
      assert.deepEqual([first.headers["upload-offset"], first.headers["upload-complete"]], ["70000", "?0"]);
      assert.deepEqual(first.early, []);
      for (const method of ["HEAD", "GET"]) {
        const state = await send(method, url);
        assert.equal(state.status, 204);
        assert.equal(state.headers["upload-offset"], "70000");
        assert.equal(state.headers["upload-length"], "200000");
        assert.equal(state.headers["upload-complete"], "?0");
        assert.equal(state.headers["cache-control"], "no-store");
        assert.match(String(state.headers["upload-limit"]), /max-size=200000/);
      }
      const last = await append(url, 70_000, true, bytes.subarray(70_000));
      await assertStored(last, bytes);
      const again = await append(url, bytes.length, true, new Uint8Array());
      assert.equal(again.body.file.id, last.body.file.id);

      const unknown = await open(null);
      assert.equal((await head(unknown)).headers["upload-length"], undefined);
      await assertStored(await append(unknown, 0, true, some(32)), some(32));
      assert.equal((await head(unknown)).headers["upload-length"], "32");

      const emptyEnd = await open(50);
      assert.equal((await append(emptyEnd, 0, false, some(50))).status, 204);
      assert.equal((await append(emptyEnd, 50, false, some(0))).status, 204);
      await assertStored(await append(emptyEnd, 50, true, some(0)), some(50));
    });

    it(`version ${version}: refuses what contradicts, as problems`, async () => {
      const url = await open();
      const wrong = await append(url, 99, false, some(32));
      assert.equal(wrong.status, 409);
      assert.match(String(wrong.headers["content-type"]), /^application\/problem\+json/);
      assert.deepEqual([wrong.headers["upload-offset"], wrong.headers["upload-complete"]], ["0", "?0"]);
      assert.equal(wrong.body.type, problemType("mismatching-upload-offset"));
      assert.deepEqual([wrong.body["expected-offset"], wrong.body["provided-offset"]], [0, 99]);
      assert.equal(wrong.body.error.code, "CONFLICT");
      assert.equal((await append(url, 0, false, some(32))).status, 204);
      const stale = await append(url, 0, false, some(32));
      assert.deepEqual([stale.status, stale.headers["upload-offset"]], [409, "32"]);

      const other = await append(url, 32, false, some(3), { "upload-length": "50" });
      assert.equal(other.status, 400);
      assert.equal(other.body.type, problemType("inconsistent-upload-length"));
      assert.equal(other.headers["upload-complete"], "?0");
      const short = await create({ "upload-complete": "?1", "upload-length": "100" }, some(5));
      assert.equal(short.status, 400);
      assert.equal(short.headers["upload-complete"], "?0");
      assert.equal(short.body.type, problemType("inconsistent-upload-length"));

      assert.equal((await append(url, "abc", false, some(3))).status, 400);
      const noOffset = { "content-type": partialUpload, "upload-complete": "?0" };
      assert.equal((await send("PATCH", url, noOffset, some(3))).status, 400);
      const noFlag = { "content-type": partialUpload, "upload-offset": "32" };
      assert.equal((await send("PATCH", url, noFlag, some(3))).status, 400);
      assert.equal((await append(url, 32, false, some(3), { "content-type": "text/plain" })).status, 415);
      assert.equal((await head(url, { "upload-offset": "1" })).status, 400);
      assert.equal((await head(url, { "upload-complete": "?0" })).status, 400);
      assert.equal((await create({ "upload-complete": "true", "upload-length": "10" }, some(5))).status, 400);
      assert.equal((await head(url)).headers["upload-offset"], "32");

      const tooLong = await append(url, 32, false, some(69));
      assert.deepEqual([tooLong.status, tooLong.headers["upload-complete"]], [400, "?0"]);
      assert.equal((await head(url)).status, 404);
    });

    it(`version ${version}: cancels, limits and compares digests`, async () => {
      const url = await open();
      assert.equal((await send("DELETE", url)).status, 204);
      assert.equal((await head(url)).status, 404);
      assert.equal((await append(url, 0, false, some(1))).status, 404);
      assert.equal((await send("DELETE", "/resumable/none")).status, 404);

      const about = await send("OPTIONS", "/resumable", { "upload-complete": "?1" });
      assert.equal(about.status, 204);
      const [, most] = /max-size=(\d+), min-size=0/.exec(String(about.headers["upload-limit"])) ?? [];
      const large = await create(
        { "upload-complete": "?1", "upload-length": String(Number(most) + 1) },
        some(1),
      );
      assert.equal(large.status, 413);
      assert.ok(large.headers["upload-limit"]);
      assert.equal((await create({ "upload-complete": "?1" }, some(1), "/resumable?route=none")).status, 404);
      assert.equal((await send("POST", "/resumable", { "upload-complete": "?1" }, some(1))).status, 401);

      const digest = createHash("sha256").update(some(5)).digest("base64");
      const right = { "upload-complete": "?1", "content-digest": `sha-256=:${digest}:` };
      await assertStored(await create(right, some(5)), some(5));
      assert.equal((await create(right, some(6))).status, 400);
    });

    it(`version ${version}: keeps nothing of a refused creation, and gives its place back`, async () => {
      const { body } = await client.post("upload/grants", { routeSlug: "default" });
      const grant = { authorization: `Bearer ${body.grant.token}` };
      const digest = createHash("sha256").update("other").digest("base64");
      const refused = [
        await create({ ...grant, "upload-complete": "?0", "upload-length": "4" }, some(5)),
        await create({ ...grant, "upload-complete": "?1", "content-digest": `sha-256=:${digest}:` }, some(5)),
      ];
      for (const { status, headers } of refused)
        assert.deepEqual([status, headers.location], [400, undefined]);
      await assertStored(await create({ ...grant, "upload-complete": "?1" }, some(5)), some(5));
    });

    it(`version ${version}: lets one of two appends at one offset win, and a newcomer interrupt`, async () => {
      const url = await open();
      const both = await Promise.all([append(url, 0, false, some(32)), append(url, 0, false, some(32))]);
      assert.deepEqual(both.map(({ status }) => status).sort(), [204, 409]);
      const racing = await open();
      const [, looked] = await Promise.all([
        append(racing, 0, false, some(64)).catch(() => null),
        head(racing),
      ]);
      assert.ok(["0", "64"].includes(String(looked?.headers["upload-offset"])));
      const ending = await open();
      await Promise.all([append(ending, 0, false, some(64)).catch(() => null), send("DELETE", ending)]);
      assert.equal((await head(ending)).status, 404);
    });
  }
});
