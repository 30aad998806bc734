import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { MB, PART_SIZE_BYTES } from "@upstow/contract";
import sharp from "sharp";
import { type ClamdHandle, clamdMissing, eicar, startClamd } from "../../../test/support/clamd.ts";
import { statement } from "../src/db/statement.ts";
import { deleteEndedFiles } from "../src/files/delete-files.ts";
import { findUpload } from "../src/files/uploads/queries.ts";
import { backfillFacts } from "../src/serving/images/describe-images.ts";
import { sendByEveryDoor } from "./support/every-door.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { countEvents } from "./support/imports/import-client.ts";
import { startSource } from "./support/imports/source.ts";
import { judged } from "./support/judged.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, put, putParts, smallBody, type UploadClient } from "./support/upload-client.ts";
import { until } from "./support/webhooks/until.ts";

const never = new AbortController().signal;
const findMessage = statement((q, p: { fileId: string }) =>
  q.selectFrom("webhook_message").select(["body", "route_slug"]).where("file_id", "=", p.fileId),
);

onBothDatabases("virus scans", (database) => {
  describe("of uploads", { skip: clamdMissing }, () => {
    let clamd: ClamdHandle;
    let app: TestApp;
    let tenant: Tenant;
    let client: UploadClient;
    before(async () => {
      clamd = await startClamd({ StreamMaxLength: "12M" });
      app = await startApp({
        database,
        env: {
          UPSTOW_CLAMD: clamd.tcp,
          UPSTOW_CLAMD_MAX_BYTES: String(14 * MB),
          UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8",
        },
      });
      tenant = await app.createTenant("pro");
      client = createUploadClient(app, tenant.live);
      await addRoute({ slug: "scanned", scan: true });
      await addRoute({ slug: "lenient", scan: true, scanUnknown: "allow", claimWithin: 60 });
    });
    after(async () => {
      await app.close();
      await clamd.close();
    });

    async function addRoute(body: Record<string, unknown>) {
      const made = await client.post(`projects/${tenant.projectId}/routers`, body);
      assert.equal(made.status, 201, JSON.stringify(made.body));
      return made.body.router;
    }
    const listLogs = async (type: string) =>
      (await app.call("GET", `logs?type=${type}`, { key: tenant.live })).body.logs;
    const scanned = { routeSlug: "scanned" };
    const bytesAt = async (url: string) => {
      const answer = await fetch(url);
      return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : answer.status;
    };

    /** Word for word, but for the id of the request. */
    async function answerTo(url: string): Promise<string> {
      const answer = await fetch(url);
      const { error } = (await answer.json()) as { error: Record<string, unknown> };
      return JSON.stringify([answer.status, { ...error, requestId: "" }]);
    }

    it("are a field of routes, off unless set, and need a scanner", async () => {
      const route = await addRoute({ slug: "plain" });
      assert.deepEqual([route.scan, route.scanUnknown], [false, "refuse"]);
      const path = `routers/${route.id}`;
      for (const change of [
        { scan: true },
        { scanUnknown: "allow" },
        { scan: false, scanUnknown: "refuse" },
      ]) {
        const { router } = (await app.call("PATCH", path, { key: tenant.live, body: change })).body;
        assert.deepEqual({ ...router, ...change }, router);
      }
      for (const body of [{ scan: "yes" }, { scan: null }])
        expectInvalid(await app.call("PATCH", path, { key: tenant.live, body }), "scan");
      expectInvalid(
        await app.call("PATCH", path, { key: tenant.live, body: { scanUnknown: "maybe" } }),
        "scanUnknown",
      );
      const without = await startApp({ database });
      try {
        const { projectId, live: key } = without.owner;
        const routers = `projects/${projectId}/routers`;
        expectInvalid(await without.call("POST", routers, { key, body: { slug: "a", scan: true } }), "scan");
        const made = await without.call("POST", routers, { key, body: { slug: "a", scan: false } });
        const patch = { key, body: { scan: true } };
        expectInvalid(await without.call("PATCH", `routers/${made.body.router.id}`, patch), "scan");
      } finally {
        await without.close();
      }
    });

    it("look at nothing where they are off", async () => {
      const file = await client.upload(eicar);
      assert.equal((await client.get(file.id)).body.file.scan, null);
      assert.deepEqual(await bytesAt(file.url), eicar);
    });

    it("hold what comes in by any door, while the scanner is away, and let it go when it is clean", async () => {
      await clamd.stop();
      const pieces = [randomBytes(PART_SIZE_BYTES), randomBytes(PART_SIZE_BYTES), smallBody];
      const source = await startSource();
      const files = await sendByEveryDoor(
        { app, client, source },
        { bytes: smallBody, pieces, type: "text/plain" },
        scanned,
      );
      try {
        for (const [door, id] of Object.entries(files)) {
          let { file } = (await client.get(id)).body;
          while (file.status === "UPLOADING") {
            await wait(20);
            ({ file } = (await client.get(id)).body);
          }
          assert.deepEqual([file.status, file.scan], ["UPLOADED", "pending"], door);
          assert.equal(await bytesAt(file.url), 404, door);
          assert.equal(await countEvents(app, id), 0, door);
        }
        assert.equal((await client.list("?routeSlug=scanned")).body.files[0].scan, "pending");
        // It is asked more than once meanwhile.
        await wait(2_500);
        for (const id of Object.values(files)) assert.equal((await client.get(id)).body.file.scan, "pending");
        await clamd.start();
        for (const [door, id] of Object.entries(files)) {
          const file = await judged(client, id);
          assert.equal(file.scan, "clean", door);
          assert.deepEqual(
            await bytesAt(file.url),
            door === "parts" ? Buffer.concat(pieces) : smallBody,
            door,
          );
          assert.equal(await countEvents(app, id), 1, door);
        }
      } finally {
        await source.close();
      }
      const metrics = await (await fetch(`${app.url}/metrics`)).text();
      assert.match(metrics, /^upstow_scanner_up 1$/m);
      assert.match(metrics, /^upstow_scans_total\{outcome="clean"\} [1-9]/m);
      assert.match(metrics, /^upstow_scans_pending 0$/m);
      assert.match(metrics, /^upstow_scan_duration_seconds_count [1-9]/m);
    });

    it("answer as for an unknown file on every path until then", async () => {
      await clamd.stop();
      const picture = await sharp({ create: { width: 40, height: 20, channels: 3, background: "#37a" } })
        .png()
        .toBuffer();
      const file = await client.upload(picture, { ...scanned, contentType: "image/png", audience: "vault" });
      const twin = await client.upload(picture, { ...scanned, contentType: "image/png", audience: "vault" });
      const paths = async ({ key, id }: { key: string; id: string }) => {
        const { links } = (await client.post("files/links", { keys: [id] })).body;
        const { grant } = (await client.post("files/grants", { audience: "vault" })).body;
        const image = `${app.url}/i/w_640,fit_scale-down,q_75,f_auto/${key}`;
        return [`${app.url}/f/${key}`, image, links[0].url, `${grant.baseUrl}/${key}`];
      };
      const [held, gone] = [await paths(file), await paths(twin)];
      await client.remove(twin.id);
      for (const [i, url] of held.entries())
        assert.equal(await answerTo(url), await answerTo(gone[i] ?? ""), new URL(url).pathname);
      expectError(await client.post("transforms/image", { key: file.key, width: 10 }), 404, "NOT_FOUND");
      // Nor is it looked at for its facts.
      const { deps } = app.app;
      const own = { store: deps.store.name, imageTypes: deps.imageTypes, retries: true };
      const found = await backfillFacts(deps.db, own, () => {}, never);
      assert.equal(found.images, 0);
      await clamd.start();
      await judged(client, file.id);
      for (const url of held) assert.notEqual(await bytesAt(url), 404, new URL(url).pathname);
      assert.equal((await client.post("transforms/image", { key: file.key, width: 10 })).status, 200);
    });

    it("delete what is infected, past the trash, without an event", async () => {
      const key = tenant.live;
      await app.call("PATCH", `projects/${tenant.projectId}`, { key, body: { trashDays: 9 } });
      const pieces = [randomBytes(PART_SIZE_BYTES), randomBytes(PART_SIZE_BYTES), eicar];
      const infected = [await client.upload(eicar, scanned), await client.uploadPieces(pieces, scanned)];
      for (const { id, url, key } of infected) {
        let isGone = false;
        const reading = (async () => {
          for (; !isGone; await wait(5)) assert.equal(await bytesAt(url), 404);
        })();
        await judged(client, id, 404);
        isGone = true;
        await reading;
        assert.equal(await countEvents(app, id), 0);
        // The bytes follow the row.
        for (const place of [key, `private/${key}`])
          await until(async () => (await app.app.deps.store.findReceived(place)) === null);
        const { body } = await client.restore([id]);
        assert.equal(body.restored ?? 0, 0);
      }
      assert.deepEqual(
        (await client.list("?status=DELETED")).body.files.map(({ id }: { id: string }) => id),
        [],
      );
      const [entry] = await listLogs("file.infected");
      assert.match(entry.message, /infected with Upstow\.Test\.EICAR/);
      await app.call("PATCH", `projects/${tenant.projectId}`, { key: tenant.live, body: { trashDays: 0 } });
      await assertCountersMatch(app, tenant.projectId);
    });

    it("let a virus in by no door, whatever life its route gives to files", async () => {
      const settings = { scan: true, expireAfterDays: 1, claimWithin: 60, access: "private" };
      await addRoute({ slug: "living", ...settings });
      const trash = (trashDays: number) =>
        app.call("PATCH", `projects/${tenant.projectId}`, { key: tenant.live, body: { trashDays } });
      await trash(9);
      const before = await client.usage();
      const source = await startSource();
      try {
        const pieces = [randomBytes(PART_SIZE_BYTES), randomBytes(PART_SIZE_BYTES), eicar];
        const sent = { bytes: eicar, pieces, type: "text/plain" };
        for (const [door, id] of Object.entries(
          await sendByEveryDoor({ app, client, source }, sent, { routeSlug: "living" }),
        )) {
          await judged(client, id, 404);
          assert.equal(await countEvents(app, id), 0, door);
          const [entry] = await listLogs("file.infected");
          assert.ok(
            (await listLogs("file.infected")).some((log: { fileId: string }) => log.fileId === id),
            door,
          );
          assert.match(entry.message, /infected/);
          for (const call of [client.restore, client.claim])
            assert.equal((await call([id])).status, 404, door);
        }
        assert.deepEqual((await client.list("?status=DELETED")).body.files, []);
        assert.equal((await client.usage()).storageBytes, before.storageBytes);
      } finally {
        await source.close();
      }
      // One that is taken back from the trash before the scanner has seen it is looked at all the same.
      await clamd.stop();
      const held = await client.upload(eicar, { routeSlug: "living" });
      await client.remove(held.id);
      await clamd.start();
      assert.equal((await client.restore([held.id])).body.restored, 1);
      await judged(client, held.id, 404);
      assert.deepEqual((await client.list("?status=DELETED")).body.files, []);
      await trash(0);
      await assertCountersMatch(app, tenant.projectId);
    });

    it("hold what a deleted route would have had scanned, and tell nobody of a file that has ended", async () => {
      await clamd.stop();
      const route = await addRoute({ slug: "deleted", scan: true, expireAfterDays: 1 });
      const pieces = [randomBytes(PART_SIZE_BYTES), randomBytes(PART_SIZE_BYTES), eicar];
      const open = { routeSlug: "deleted", fileSize: eicar.length };
      const [virus, text, ended] = [
        await client.request(open),
        await client.request(open),
        await client.request(open),
      ];
      const inParts = await client.init({
        routeSlug: "deleted",
        fileSize: 2 * PART_SIZE_BYTES + eicar.length,
      });
      const parts = await putParts(inParts, pieces);
      await put(virus.uploadUrl, eicar);
      await put(text.uploadUrl, Buffer.alloc(eicar.length, "a"));
      await put(ended.uploadUrl, Buffer.alloc(eicar.length, "b"));
      assert.equal((await app.call("DELETE", `routers/${route.id}`, { key: tenant.live })).status, 200);
      for (const { fileId, cdnUrl } of [virus, text, ended]) {
        const { file } = (await client.complete(fileId)).body;
        assert.deepEqual([file.status, file.scan], ["UPLOADED", "pending"]);
        assert.equal(await bytesAt(cdnUrl), 404);
      }
      assert.equal((await client.completeParts(inParts, parts)).body.file.scan, "pending");
      await client.patch(ended.fileId, { expiresIn: 1 });
      await client.patch(text.fileId, { expiresAt: null });
      app.clock.advance(1_000);
      await clamd.start();
      assert.equal((await judged(client, text.fileId)).scan, "clean");
      assert.deepEqual(await bytesAt(text.cdnUrl), Buffer.alloc(eicar.length, "a"));
      for (const { fileId } of [virus, inParts]) {
        await judged(client, fileId, 404);
        assert.equal(await countEvents(app, fileId), 0);
      }
      assert.deepEqual([await countEvents(app, text.fileId), await countEvents(app, ended.fileId)], [1, 0]);
      await deleteEndedFiles(app.app.deps);
      await assertCountersMatch(app, tenant.projectId);
    });

    it("go on in a project that is deleted, whose files stay served", async () => {
      await clamd.stop();
      const other = await app.createTenant("pro");
      const theirs = createUploadClient(app, other.live);
      await theirs.post(`projects/${other.projectId}/routers`, { slug: "scanned", scan: true });
      const [virus, text] = [await theirs.upload(eicar, scanned), await theirs.upload(smallBody, scanned)];
      assert.equal(
        (await app.call("DELETE", `projects/${other.projectId}`, { key: other.live })).status,
        200,
      );
      await clamd.start();
      const { db } = app.app.deps;
      const rowOf = (id: string) =>
        db.get(findUpload, { id, projectId: other.projectId, environment: "live" });
      await until(
        async () => (await rowOf(text.id))?.scan !== "pending" && (await rowOf(virus.id))?.scan !== "pending",
      );
      assert.deepEqual([(await rowOf(text.id))?.scan, (await rowOf(virus.id))?.scan], ["clean", "infected"]);
      await until(async () => (await bytesAt(text.url)) !== 404);
      assert.deepEqual(await bytesAt(text.url), smallBody);
      assert.equal(await bytesAt(virus.url), 404);
      await assertCountersMatch(app, other.projectId);
    });

    it("refuse or allow what is larger than the scanner takes", async () => {
      // Over the scanner's limit, and over what is sent to it.
      for (const sizeBytes of [13 * MB, 14 * MB + 1]) {
        const bytes = randomBytes(sizeBytes);
        const before = await client.usage();
        const refused = await judged(client, (await client.upload(bytes, scanned)).id);
        assert.deepEqual([refused.status, refused.scan, refused.sha256], ["FAILED", "unscanned", null]);
        assert.equal(await bytesAt(refused.url), 404);
        assert.equal(await countEvents(app, refused.id), 0);
        assert.equal((await client.usage()).storageBytes, before.storageBytes);
        await until(async () => (await app.app.deps.store.findReceived(`private/${refused.key}`)) === null);
        const [failed] = await listLogs("upload.failed");
        assert.deepEqual(failed.data, { reason: "unscanned" });
        assert.equal((await client.remove(refused.id)).status, 200);
        const allowed = await judged(client, (await client.upload(bytes, { routeSlug: "lenient" })).id);
        assert.deepEqual([allowed.status, allowed.scan], ["UPLOADED", "unscanned"]);
        assert.deepEqual(await bytesAt(allowed.url), bytes);
        assert.equal(await countEvents(app, allowed.id), 1);
        assert.equal((await listLogs("file.unscanned"))[0].fileId ?? allowed.id, allowed.id);
      }
      await assertCountersMatch(app, tenant.projectId);
    });

    it("leave a file to whatever happens to it meanwhile", async () => {
      await clamd.stop();
      const upload = (fields: object = {}) => client.upload(smallBody, { ...scanned, ...fields });
      const [removed, trashed, renamed, closed] = [
        await upload(),
        await upload(),
        await upload(),
        await upload(),
      ];
      const [ended, waiting, claimed] = [
        await upload({ expiresIn: 60 }),
        await upload({ routeSlug: "lenient" }),
        await upload({ routeSlug: "lenient" }),
      ];
      await client.remove(removed.id);
      const trash = (trashDays: number) =>
        app.call("PATCH", `projects/${tenant.projectId}`, { key: tenant.live, body: { trashDays } });
      await trash(9);
      await client.remove(trashed.id);
      await trash(0);
      await client.patch(renamed.id, { name: "new.txt", metadata: { a: 1 } });
      await client.patch(closed.id, { access: "private" });
      assert.equal((await client.get(waiting.id)).body.file.claimBy, null);
      assert.equal((await client.claim([claimed.id])).body.claimed, 1);
      const { routers } = (
        await app.call("GET", `projects/${tenant.projectId}/routers`, { key: tenant.live })
      ).body;
      const route = routers.find(({ slug }: { slug: string }) => slug === "scanned");
      await app.call("PATCH", `routers/${route.id}`, { key: tenant.live, body: { slug: "moved" } });
      app.clock.advance(61_000);
      await deleteEndedFiles(app.app.deps);
      await clamd.start();

      const seen = await judged(client, renamed.id);
      assert.deepEqual([seen.name, seen.scan], ["new.txt", "clean"]);
      const message = await app.app.deps.db.get(findMessage, { fileId: renamed.id });
      assert.equal(message?.route_slug, "moved");
      assert.deepEqual(JSON.parse(message?.body ?? "").file.metadata, { a: 1 });
      const isPrivate = await judged(client, closed.id);
      assert.deepEqual([isPrivate.scan, await bytesAt(closed.url)], ["clean", 404]);
      // The time to claim it begins when the app can hear of it.
      const late = await judged(client, waiting.id);
      assert.ok(Date.parse(late.claimBy) > app.clock.now() + 50_000, late.claimBy);
      assert.equal((await judged(client, claimed.id)).claimBy, null);
      for (const { id } of [removed, ended]) {
        expectError(await client.get(id), 404, "NOT_FOUND");
        assert.equal(await countEvents(app, id), 0);
      }
      assert.equal(await countEvents(app, trashed.id), 0);
      assert.equal((await client.restore([trashed.id])).body.restored, 1);
      assert.equal((await judged(client, trashed.id)).scan, "clean");
      assert.equal(await countEvents(app, trashed.id), 1);
      await app.call("PATCH", `routers/${route.id}`, { key: tenant.live, body: { slug: "scanned" } });
      await assertCountersMatch(app, tenant.projectId);
    });
  });
});
