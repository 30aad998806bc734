import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { MB, PART_SIZE_BYTES, UPLOAD_GRANT_REJECTED_MAX } from "@upstow/contract";
import { statement } from "../src/db/statement.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { settled } from "./support/imports/import-client.ts";
import { serve, startSource } from "./support/imports/source.ts";
import { type GenuineFile, makeGenuineFiles } from "./support/inspection/genuine-files.ts";
import { makeZip } from "./support/inspection/make-zip.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import { createUploadClient, put, putParts, type UploadClient } from "./support/upload-client.ts";
import { until } from "./support/webhooks/until.ts";

const countRefused = statement((q, p: { projectId: string; count: number }) =>
  q.updateTable("upload_grant").set({ refused_files: p.count }).where("project_id", "=", p.projectId),
);
const page = Buffer.from("<!DOCTYPE html><script>alert(1)</script>");

onAnyDatabase("checks of content", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let files: GenuineFile[];
  before(async () => {
    app = await startApp({ database, env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" } });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    files = await makeGenuineFiles();
    for (const checkContent of ["off", "warn", "enforce"]) {
      await addRoute({ slug: checkContent, checkContent });
      await addRoute({ slug: `${checkContent}-images`, checkContent, allowedTypes: ["image/*"] });
    }
  });
  after(() => app.close());

  async function addRoute(body: Record<string, unknown>) {
    const made = await client.post(`projects/${tenant.projectId}/routers`, body);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.router;
  }

  const find = (name: string) => files.find((file) => file.name === name)?.bytes ?? assert.fail(name);
  const listLogs = async (type: string) =>
    (await app.call("GET", `logs?type=${type}`, { key: tenant.live })).body.logs;

  async function send(bytes: Buffer, contentType: string, routeSlug: string) {
    const upload = await client.request({
      fileSize: bytes.length,
      contentType,
      routeSlug,
      fileName: "a.bin",
    });
    assert.equal((await put(upload.uploadUrl, bytes, contentType)).status, 200);
    return upload;
  }

  /** Nothing of it is left but a row that says so. */
  async function expectRefused(
    upload: { fileId: string; key: string; cdnUrl: string },
    detectedType: string | null,
  ) {
    const { file } = (await client.get(upload.fileId)).body;
    assert.deepEqual([file.status, file.detectedType], ["FAILED", detectedType]);
    assert.equal((await fetch(upload.cdnUrl)).status, 404);
    assert.equal(await app.app.deps.store.findReceived(upload.key), null);
  }

  it("are a field of routes, off unless set", async () => {
    const route = await addRoute({ slug: "plain" });
    assert.equal(route.checkContent, "off");
    const path = `routers/${route.id}`;
    for (const checkContent of ["warn", "enforce", "off"]) {
      const patched = await app.call("PATCH", path, { key: tenant.live, body: { checkContent } });
      assert.equal(patched.body.router.checkContent, checkContent);
      assert.equal(
        (await app.call("GET", path, { key: tenant.live })).body.router.checkContent,
        checkContent,
      );
    }
    for (const checkContent of ["on", null, true])
      expectInvalid(
        await app.call("PATCH", path, { key: tenant.live, body: { checkContent } }),
        "checkContent",
      );
  });

  it("look at nothing where they are off", async () => {
    const file = await client.upload(page, { contentType: "image/png", routeSlug: "off-images" });
    assert.equal((await client.get(file.id)).body.file.detectedType, null);
    assert.equal((await client.list()).body.files[0].detectedType, null);
  });

  it("show the type of every format that has a signature", async () => {
    const bodies = files.map(({ name, declared, bytes }) => ({
      ...{ fileName: name, fileSize: bytes.length, contentType: declared, routeSlug: "enforce" },
    }));
    const { uploads } = (await client.post("upload/batch/request", { files: bodies })).body;
    await Promise.all(files.map(({ bytes, declared }, i) => put(uploads[i].uploadUrl, bytes, declared)));
    const done = await client.post("upload/batch/complete", {
      files: uploads.map(({ fileId }: { fileId: string }) => ({ fileId })),
    });
    assert.equal(done.status, 200, JSON.stringify(done.body));
    for (const [i, { name, type, declared }] of files.entries()) {
      const { file } = done.body.files[i];
      assert.deepEqual([file.detectedType, file.type], [type, declared], name);
    }
    const { file } = (await client.get((await client.list("?limit=1")).body.files[0].id)).body;
    assert.equal(file.detectedType, files.at(-1)?.type);
  });

  it("refuse a disguised file with 422: it is FAILED, its bytes are gone, its quota is free", async () => {
    const before = await client.usage();
    for (const [bytes, declared, route, detected] of [
      [page, "image/png", "enforce-images", "text/html"],
      [find("a.exe"), "application/pdf", "enforce", "application/x-msdownload"],
      [find("a.zip"), "application/octet-stream", "enforce", null],
      [Buffer.alloc(300, 9), "image/jpeg", "enforce-images", null],
    ] as const) {
      const upload = await send(bytes, declared, route);
      const done = await client.complete(upload.fileId);
      if (route === "enforce" && declared === "application/octet-stream") {
        assert.equal(done.body.file.detectedType, "application/zip");
        await client.remove(upload.key);
        continue;
      }
      const error = expectError(done, 422, "CONTENT_MISMATCH");
      assert.match(error.message, detected === null ? /is not image\/jpeg/ : new RegExp(detected));
      await expectRefused(upload, detected);
      expectError(await client.complete(upload.fileId), 404, "NOT_FOUND");
      // A bucket takes the bytes, and they are swept.
      if (onDisk) assert.notEqual((await put(upload.uploadUrl, bytes, declared)).status, 200);
    }
    assert.equal((await client.usage()).storageBytes, before.storageBytes);
    const [entry] = await listLogs("upload.failed");
    assert.deepEqual(entry.data, {
      reason: "content-mismatch",
      declaredType: "image/jpeg",
      detectedType: null,
    });
    await assertCountersMatch(app, tenant.projectId);
  });

  it("ask the route behind application/octet-stream", async () => {
    const { body } = await app.call("GET", `projects/${tenant.projectId}/routers`, { key: tenant.live });
    const route = body.routers.find((found: { slug: string }) => found.slug === "enforce-images");
    const allow = (allowedTypes: string[]) =>
      app.call("PATCH", `routers/${route.id}`, { key: tenant.live, body: { allowedTypes } });
    await allow(["image/*", "application/octet-stream"]);
    const picture = await send(find("a.jpg"), "application/octet-stream", "enforce-images");
    assert.equal((await client.complete(picture.fileId)).body.file.detectedType, "image/jpeg");
    const program = await send(find("a.elf"), "application/octet-stream", "enforce-images");
    expectError(await client.complete(program.fileId), 422, "CONTENT_MISMATCH");
    await allow(["image/*"]);
  });

  it("only log where they warn, and confirm", async () => {
    const upload = await send(page, "image/png", "warn-images");
    const done = await client.complete(upload.fileId);
    assert.equal(done.status, 200);
    assert.equal(done.body.file.detectedType, "text/html");
    const honest = await send(find("a.png"), "image/png", "warn-images");
    await client.complete(honest.fileId);
    const entries = await listLogs("file.mismatch");
    assert.equal(entries.length, 1);
    assert.equal(entries[0].fileId, upload.fileId);
    assert.deepEqual(entries[0].data, {
      reason: "content-mismatch",
      declaredType: "image/png",
      detectedType: "text/html",
    });
  });

  it("find the directory of a ZIP at the end of a large file", async () => {
    const contentType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    const bytes = makeZip({
      "media/film": Buffer.alloc(MB, 1),
      "[Content_Types].xml": "",
      "word/document.xml": "",
    });
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`a/rather/long/name/${i}`, ""]));
    for (const zip of [bytes, makeZip({ ...many, "[Content_Types].xml": "", "word/document.xml": "" })]) {
      const upload = await send(zip, contentType, "enforce");
      assert.equal((await client.complete(upload.fileId)).body.file?.detectedType, contentType);
    }
  });

  it("hold for parts and for batches", async () => {
    const pieces = [Buffer.alloc(PART_SIZE_BYTES, page), Buffer.alloc(PART_SIZE_BYTES), Buffer.alloc(10)];
    const fileSize = 2 * PART_SIZE_BYTES + 10;
    const upload = await client.init({ fileSize, contentType: "image/png", routeSlug: "enforce-images" });
    const parts = await putParts(upload, pieces);
    expectError(await client.completeParts(upload, parts), 422, "CONTENT_MISMATCH");
    await expectRefused({ ...upload, cdnUrl: `${app.url}/f/${upload.key}` }, "text/html");

    const honest = await client.init({ fileSize, contentType: "image/png", routeSlug: "enforce-images" });
    const [, ...rest] = pieces;
    const first = Buffer.concat([find("a.png"), Buffer.alloc(PART_SIZE_BYTES - find("a.png").length)]);
    const done = await client.completeParts(honest, await putParts(honest, [first, ...rest]));
    assert.equal(done.body.file?.detectedType, "image/png");

    const uploads = [
      await send(find("a.png"), "image/png", "enforce-images"),
      await send(page, "image/png", "enforce-images"),
    ];
    const batch = await client.post("upload/batch/complete", {
      files: uploads.map(({ fileId }) => ({ fileId })),
    });
    assert.equal(batch.status, 207);
    assert.equal(batch.body.files[0].file.detectedType, "image/png");
    assert.equal(batch.body.files[1].error.code, "CONTENT_MISMATCH");
    await assertCountersMatch(app, tenant.projectId);
  });

  it("hold for imports", async () => {
    const source = await startSource();
    source.paths.set("/honest.png", serve(find("a.png"), "image/png"));
    source.paths.set("/page.png", serve(page, "image/png"));
    const ends = ["/honest.png", "/page.png"].map(async (path) => {
      const body = { url: source.url + path, routeSlug: "enforce-images" };
      const { file } = (await client.post("upload/import", body)).body;
      return settled(client, file.id);
    });
    const [honest, disguised] = await Promise.all(ends);
    assert.deepEqual([honest.status, honest.detectedType], ["UPLOADED", "image/png"]);
    assert.deepEqual([disguised.status, disguised.detectedType], ["FAILED", "text/html"]);
    await until(async () => (await client.get(disguised.id)).body.file.failure !== undefined);
    const { failure } = (await client.get(disguised.id)).body.file;
    assert.equal(failure.reason, "type_refused");
    assert.match(failure.message, /text\/html/);
    await source.close();
    await assertCountersMatch(app, tenant.projectId);
  });

  it("say why an import failed, even if its lease is extended while its bytes are removed", async () => {
    const source = await startSource();
    source.paths.set("/page.png", serve(page, "image/png"));
    const { store } = app.app.deps;
    const { delete: remove } = store;
    store.delete = async (keys) => {
      // Longer than between two extensions.
      await wait(1_500);
      return remove.call(store, keys);
    };
    try {
      const body = { url: `${source.url}/page.png`, routeSlug: "enforce-images" };
      const { id } = (await client.post("upload/import", body)).body.file;
      assert.equal((await settled(client, id)).status, "FAILED");
      await until(async () => (await client.get(id)).body.file.failure?.reason === "type_refused");
    } finally {
      store.delete = remove;
      await source.close();
    }
  });

  it("continue an import whose content could not be examined at first", async () => {
    const source = await startSource();
    source.paths.set("/late.png", serve(find("a.png"), "image/png"));
    const { typeDetector } = app.app.deps;
    const { judge } = typeDetector;
    typeDetector.judge = async () => {
      typeDetector.judge = judge;
      return null;
    };
    const body = { url: `${source.url}/late.png`, routeSlug: "enforce-images" };
    const { file } = (await client.post("upload/import", body)).body;
    const done = await settled(client, file.id);
    assert.deepEqual([done.status, done.detectedType, done.failure], ["UPLOADED", "image/png", undefined]);
    assert.ok(Buffer.from(await (await fetch(done.url)).arrayBuffer()).equals(find("a.png")));
    await source.close();
    await assertCountersMatch(app, tenant.projectId);
  });

  it("hold for bytes that come by tus, with the creation and after it", async () => {
    const encode = (text: string) => Buffer.from(text).toString("base64");
    const sendByTus = (method: string, path: string, headers: Record<string, string>, body?: Buffer) =>
      fetch(new URL(path, app.url), {
        method,
        headers: {
          "tus-resumable": "1.0.0",
          authorization: `Bearer ${tenant.live}`,
          "content-type": "application/offset+octet-stream",
          ...headers,
        },
        ...(body && { body: new Uint8Array(body) }),
      });
    for (const bytes of [find("a.png"), page]) {
      const creation = {
        "upload-length": String(bytes.length),
        "upload-metadata": `route ${encode("enforce-images")},filetype ${encode("image/png")}`,
      };
      const opened = await sendByTus("POST", "/tus", creation);
      const location = opened.headers.get("location") ?? "";
      const answers = [
        await sendByTus("PATCH", location, { "upload-offset": "0" }, bytes),
        await sendByTus("POST", "/tus", creation, bytes),
      ];
      for (const [i, answer] of answers.entries()) {
        if (bytes === page) {
          assert.equal(answer.status, 422, await answer.text());
          continue;
        }
        assert.equal(answer.status, i === 0 ? 204 : 201);
        const { file } = (await client.get(answer.headers.get("upstow-file-id") ?? "")).body;
        assert.deepEqual([file.status, file.detectedType], ["UPLOADED", "image/png"]);
        assert.ok(Buffer.from(await (await fetch(file.url)).arrayBuffer()).equals(bytes));
      }
      if (bytes === page) assert.equal((await sendByTus("HEAD", location, {})).status, 404);
    }
    await assertCountersMatch(app, tenant.projectId);
  });

  it("give the place of an upload grant back, through whichever door the bytes came", async () => {
    const create = async (): Promise<string> =>
      (await client.post("upload/grants", { routeSlug: "enforce-images" })).body.grant.token;
    let token = await create();
    const send = (
      method: string,
      path: string,
      headers: Record<string, string>,
      bytes?: RequestInit["body"],
    ) =>
      fetch(new URL(path, app.url), {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(bytes && { body: bytes }),
      });
    const byTus = (method: string, path: string, headers: Record<string, string>, bytes?: Buffer) =>
      send(
        method,
        path,
        { "tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream", ...headers },
        bytes && new Uint8Array(bytes),
      );
    const creationOf = ({ length }: Buffer) => ({
      "upload-length": String(length),
      "upload-metadata": `filetype ${Buffer.from("image/png").toString("base64")}`,
    });
    const doors: Record<string, (bytes: Buffer) => Promise<Response>> = {
      "tus with the creation": (bytes) => byTus("POST", "/tus", creationOf(bytes), bytes),
      async "tus after the creation"(bytes) {
        const { headers } = await byTus("POST", "/tus", creationOf(bytes));
        return byTus("PATCH", headers.get("location") ?? "", { "upload-offset": "0" }, bytes);
      },
      "resumable upload": (bytes) =>
        send(
          "POST",
          "/resumable",
          { "upload-draft-interop-version": "8", "upload-complete": "?1", "content-type": "image/png" },
          new Uint8Array(bytes),
        ),
      form(bytes) {
        const form = new FormData();
        form.append("file", new File([new Uint8Array(bytes)], "a.png", { type: "image/png" }));
        return send("POST", `/form/${token}`, {}, form);
      },
    };
    for (const [name, door] of Object.entries(doors)) {
      for (let i = 0; i < 2; i++) {
        const text = await (await door(page)).text();
        assert.match(text, /"CONTENT_MISMATCH"/, name);
      }
    }
    assert.ok((await doors["form"]?.(find("a.png")))?.ok);
    assert.equal((await doors["tus with the creation"]?.(find("a.png")))?.status, 403, "it has one place");

    token = await create();
    const most = { projectId: tenant.projectId, count: UPLOAD_GRANT_REJECTED_MAX - 1 };
    await app.app.deps.db.run(countRefused, most);
    for (const status of [422, 422, 403]) assert.equal((await doors["form"]?.(page))?.status, status);
    await assertCountersMatch(app, tenant.projectId);
  });

  it("end an upload once, however many complete it and send other bytes meanwhile", async () => {
    const genuine = find("a.png");
    for (let round = 0; round < 12; round++) {
      const disguised = Buffer.alloc(genuine.length, page);
      const upload = await send(round % 2 === 0 ? genuine : disguised, "image/png", "enforce-images");
      const puts = [genuine, disguised, genuine, disguised].map((bytes) =>
        put(upload.uploadUrl, bytes, "image/png"),
      );
      const answers = await Promise.all(Array.from({ length: 4 }, () => client.complete(upload.fileId)));
      await Promise.all(puts);
      const ends = answers.filter(({ status }) => status !== 404);
      assert.equal(ends.length, 1, JSON.stringify(answers.map(({ status, body }) => [status, body])));
      const served = await fetch(upload.cdnUrl);
      if (ends[0]?.status === 200) {
        assert.equal(ends[0].body.file.detectedType, "image/png");
        assert.ok(Buffer.from(await served.arrayBuffer()).equals(genuine), "confirmed is what was looked at");
      } else {
        expectError(ends[0] ?? assert.fail(), 422, "CONTENT_MISMATCH");
        assert.equal(served.status, 404);
      }
    }
    await assertCountersMatch(app, tenant.projectId);
  });
});
