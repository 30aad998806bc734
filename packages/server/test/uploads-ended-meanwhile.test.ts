import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { after, before, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { deleteEndedFiles } from "../src/files/delete-files.ts";
import { keepsBytes } from "../src/files/life.ts";
import { findUpload } from "../src/files/uploads/queries.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { countEvents, countImports } from "./support/imports/import-client.ts";
import { type Source, startSource } from "./support/imports/source.ts";
import { assertCountersMatch, deletionsDone } from "./support/recount.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { octets } from "./support/tus/unfinished-patch.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";
import { createTenantClients, keepReaperAway, listLogTypes } from "./support/upload-life.ts";

const half = 40_000;
const day = 24 * 3_600_000;

/** An upload whose first half has arrived. */
interface Begun {
  id: string;
  bytes: Buffer;
  /** Asks where to continue. Imports have nobody who asks. */
  look(): Promise<number | null>;
  /** Sends the second half. Returns 200 if the file was stored, and the status of the rejection otherwise. */
  finish(): Promise<number>;
}

onBothDatabases("what ends while it is uploaded", (database) => {
  let app: TestApp;
  let source: Source;
  let tenant: Tenant;
  let client: UploadClient;
  before(async () => {
    source = await startSource();
    app = await startApp({
      database,
      env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" },
      imports: { retryMs: 5, leaseMs: 600 },
    });
    await keepReaperAway(app);
  });
  after(async () => {
    await app.close();
    await source.close();
  });

  async function useNewProject(): Promise<void> {
    ({ tenant, client } = await createTenantClients(app));
  }

  async function addRoute(body: Record<string, unknown>): Promise<string> {
    const made = await client.post(`projects/${tenant.projectId}/routers`, body);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.router.id;
  }

  const send = async (method: string, path: string, headers: Record<string, string>, body?: Buffer) => {
    const response = await fetch(new URL(path, app.url), {
      method,
      headers,
      ...(body && { body: new Uint8Array(body) }),
    });
    await response.arrayBuffer();
    return response;
  };

  async function beginGrowing(
    path: string,
    headers: { all: object; create: object; first: object; last: object },
  ): Promise<Begun> {
    const bytes = randomBytes(2 * half);
    const created = await send("POST", path, {
      authorization: `Bearer ${tenant.live}`,
      "upload-length": String(bytes.length),
      ...headers.all,
      ...headers.create,
    });
    assert.equal(created.status, 201);
    const location = created.headers.get("location") ?? "";
    const append = (offset: number, kind: object) =>
      send(
        "PATCH",
        location,
        { "upload-offset": String(offset), ...headers.all, ...kind },
        bytes.subarray(offset, offset + half),
      );
    assert.equal((await append(0, headers.first)).status, 204);
    const { files } = (await client.list("?limit=1")).body;
    return {
      id: files[0].id,
      bytes,
      look: async () => (await send("HEAD", location, { ...headers.all })).status,
      finish: async () => {
        const { ok, status } = await append(half, headers.last);
        return ok ? 200 : status;
      },
    };
  }

  async function beginImport(routeSlug: string): Promise<Begun> {
    const bytes = randomBytes(2 * half);
    const path = `/${randomUUID()}`;
    const { promise: asked, resolve } = Promise.withResolvers<ServerResponse>();
    source.paths.set(path, (_, response) => {
      response.writeHead(200, { "content-length": bytes.length }).write(bytes.subarray(0, half));
      resolve(response);
    });
    const answer = await client.post("upload/import", { url: source.url + path, routeSlug });
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    const { id } = answer.body.file;
    const response = await asked;
    return {
      id,
      bytes,
      look: async () => null,
      async finish() {
        response.end(bytes.subarray(half));
        // The row of the import is gone, or says why it failed.
        while ((await rowOf(id))?.status === "UPLOADING" && (await countImports(app, id)) === 1)
          await wait(10);
        const { status, body } = await client.get(id);
        return status !== 200 ? status : body.file.status === "UPLOADED" ? 200 : 422;
      },
    };
  }

  async function beginForm(routeSlug: string, creator = client): Promise<Begun> {
    const bytes = randomBytes(2 * half);
    const name = `${randomUUID()}.bin`;
    const { token } = (await creator.post("upload/grants", { routeSlug })).body.grant;
    const request = httpRequest(new URL(`/form/${token}`, app.url), {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=b" },
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      request.on("response", resolve).on("error", reject),
    );
    request.write(`--b\r\nContent-Disposition: form-data; name="f"; filename="${name}"\r\n\r\n`);
    request.write(bytes.subarray(0, half));
    const find = async () => (await client.list(`?name=${name}`)).body.files[0]?.id as string | undefined;
    let id = await find();
    for (; id === undefined; id = await find()) await wait(10);
    return {
      id,
      bytes,
      look: async () => null,
      async finish() {
        request.write(bytes.subarray(half));
        request.end("\r\n--b--\r\n");
        const response = await answered;
        response.resume();
        return response.statusCode ?? 0;
      },
    };
  }

  const doors: Record<string, (routeSlug: string) => Promise<Begun>> = {
    tus: (route) =>
      beginGrowing("/tus", {
        all: { "tus-resumable": "1.0.0" },
        create: { "upload-metadata": `route ${Buffer.from(route).toString("base64")}` },
        first: { "content-type": octets },
        last: { "content-type": octets },
      }),
    resumable: (route) =>
      beginGrowing(`/resumable?route=${route}`, {
        all: { "upload-draft-interop-version": "8", "content-type": "application/partial-upload" },
        create: { "upload-complete": "?0", "content-type": "application/octet-stream" },
        first: { "upload-complete": "?0" },
        last: { "upload-complete": "?1" },
      }),
    import: beginImport,
    form: beginForm,
  };

  const rowOf = (id: string) =>
    app.app.deps.db.get(findUpload, { id, projectId: tenant.projectId, environment: "live" });
  const bytesOf = async (id: string) => {
    const { file } = (await client.get(id)).body;
    const response = await fetch(file.url);
    return response.status === 200 ? Buffer.from(await response.arrayBuffer()) : response.status;
  };

  for (const [door, begin] of Object.entries(doors)) {
    // Nobody can continue a form, so it leaves no row.
    const leavesRow = door !== "form";
    for (const checkContent of leavesRow ? ["off", "enforce"] : [])
      it(`is gone with its file: ${door}, content checks ${checkContent}`, async () => {
        await useNewProject();
        await addRoute({ slug: "brief", checkContent });
        const upload = await begin("brief");
        assert.equal((await client.patch(upload.id, { expiresIn: 60 })).status, 200);
        app.clock.advance(60_000);
        assert.ok([404, null].includes(await upload.look()), "asked where to continue");
        assert.equal(await upload.finish(), 404);
        assert.equal((await rowOf(upload.id))?.status, "UPLOADING");
        await deleteEndedFiles(app.app.deps);
        const row = await rowOf(upload.id);
        assert.deepEqual([row?.status, row?.purge_at], ["DELETED", null]);
        assert.deepEqual(await listLogTypes(app, upload.id), [
          "upload.requested",
          "file.updated",
          "file.expired",
        ]);
        assert.equal(await countEvents(app, upload.id), 0);
        await deletionsDone(app);
        assert.equal(await app.app.deps.store.findReceived(row?.key ?? ""), null);
        await assertCountersMatch(app, tenant.projectId, { live: 0 });
      });

    it(`outlives its route: ${door}`, async () => {
      await useNewProject();
      const id = await addRoute({ slug: "short", claimWithin: 60 });
      const upload = await begin("short");
      assert.equal((await app.call("DELETE", `routers/${id}`, { key: tenant.live })).status, 200);
      assert.equal(await upload.finish(), 200);
      assert.deepEqual(await bytesOf(upload.id), upload.bytes);
      assert.equal((await client.get(upload.id)).body.file.claimBy, null);
      assert.equal(await countEvents(app, upload.id), 1);
      await assertCountersMatch(app, tenant.projectId, { live: 1 });
    });

    it(`is not stored in a project that was deleted: ${door}`, async () => {
      await useNewProject();
      const upload = await begin("default");
      const { status } = await app.call("DELETE", `projects/${tenant.projectId}`, { key: tenant.live });
      assert.equal(status, 200);
      await upload.finish();
      assert.notEqual((await rowOf(upload.id))?.status, "UPLOADED");
      assert.equal(await countEvents(app, upload.id), 0);
      app.clock.advance(8 * day);
      await reapAbandonedUploads(app.app.deps);
      assert.equal((await rowOf(upload.id))?.status, leavesRow ? "FAILED" : undefined);
      await assertCountersMatch(app, tenant.projectId, { live: 0 });
    });

    it(`is whole or gone, whoever deletes or restores it meanwhile: ${door}`, async () => {
      await useNewProject();
      const trash = { key: tenant.live, body: { trashDays: 1 } };
      assert.equal((await app.call("PATCH", `projects/${tenant.projectId}`, trash)).status, 200);
      let stored = 0;
      for (let round = 0; round < 12; round++) {
        const upload = await begin("default");
        const { id } = upload;
        const finishing = upload.finish();
        await wait(Math.random() * 30);
        const [removed] = await Promise.all([client.remove(id), client.restore([id])]);
        await client.restore([id]);
        const status = await finishing;
        const row = await rowOf(id);
        const isKept = row !== null && keepsBytes(row);
        // What was acknowledged is there or in the trash.
        assert.ok(isKept || status !== 200, `${removed.status} ${row?.status}`);
        assert.equal(await countEvents(app, id), Number(isKept));
        await client.restore([id]);
        if (isKept) assert.deepEqual(await bytesOf(id), upload.bytes);
        else assert.equal(row?.status, "DELETED");
        stored += Number(isKept);
      }
      await deletionsDone(app);
      await assertCountersMatch(app, tenant.projectId, { live: stored });
    });

    it(`is whole or gone when its time ends meanwhile: ${door}`, async () => {
      await useNewProject();
      for (let round = 0; round < 12; round++) {
        const upload = await begin("default");
        assert.equal((await client.patch(upload.id, { expiresIn: 60 })).status, 200);
        app.clock.advance(50_000);
        const finishing = upload.finish();
        await wait(Math.random() * 30);
        app.clock.advance(10_000);
        await Promise.all([deleteEndedFiles(app.app.deps), deleteEndedFiles(app.app.deps)]);
        const status = await finishing;
        await deleteEndedFiles(app.app.deps);
        const row = await rowOf(upload.id);
        assert.deepEqual([row?.status, row?.purge_at], ["DELETED", null]);
        const logs = await listLogTypes(app, upload.id);
        assert.equal(logs.includes("upload.completed"), (await countEvents(app, upload.id)) === 1);
        if (status === 200) assert.ok(logs.includes("upload.completed"));
        assert.equal(logs.filter((type) => type === "file.expired").length, 1);
        await deletionsDone(app);
        assert.equal(await app.app.deps.store.findReceived(row?.key ?? ""), null);
      }
      await assertCountersMatch(app, tenant.projectId);
    });
  }

  it("cannot be asked about in the trash, and can again once it is restored: tus", async () => {
    await useNewProject();
    const trash = { key: tenant.live, body: { trashDays: 1 } };
    assert.equal((await app.call("PATCH", `projects/${tenant.projectId}`, trash)).status, 200);
    const upload = (await doors["tus"]?.("default")) ?? assert.fail();
    assert.equal(await upload.finish(), 200);
    assert.equal((await client.remove(upload.id)).status, 200);
    assert.equal(await upload.look(), 404);
    assert.equal((await client.restore([upload.id])).status, 200);
    assert.equal(await upload.look(), 200);
    assert.deepEqual(await bytesOf(upload.id), upload.bytes);
  });

  it("is gone for whoever asks again once nobody claimed it in time: tus", async () => {
    await useNewProject();
    await addRoute({ slug: "claimed", claimWithin: 60 });
    const upload = (await doors["tus"]?.("claimed")) ?? assert.fail();
    assert.equal(await upload.finish(), 200);
    app.clock.advance(60_000);
    assert.equal(await upload.look(), 404);
    await deleteEndedFiles(app.app.deps);
    assert.equal((await rowOf(upload.id))?.status, "DELETED");
    await assertCountersMatch(app, tenant.projectId, { live: 1 });
  });

  it("leaves nothing of a form whose key is revoked, or whose file ends: form", async () => {
    await useNewProject();
    const made = (await client.post(`projects/${tenant.projectId}/keys`, { name: "short" })).body;
    const ofKey = await beginForm("default", createUploadClient(app, made.secret));
    assert.equal((await app.call("DELETE", `keys/${made.key.id}`, { key: tenant.live })).status, 200);
    const { key } = (await rowOf(ofKey.id)) ?? assert.fail();
    assert.equal(await ofKey.finish(), 401);
    const ended = await beginForm("default");
    assert.equal((await client.patch(ended.id, { expiresIn: 60 })).status, 200);
    app.clock.advance(60_000);
    assert.equal(await ended.finish(), 404);
    for (const { id } of [ofKey, ended]) {
      assert.equal(await rowOf(id), null);
      assert.equal(await countEvents(app, id), 0);
    }
    await deletionsDone(app);
    assert.equal(await app.app.deps.store.findReceived(key), null);
    await assertCountersMatch(app, tenant.projectId, { live: 0 });
  });
});
