import assert from "node:assert/strict";
import { it } from "node:test";
import sharp from "sharp";
import { listOperations } from "./support/list-operations.ts";
import { onAnyDatabase, startApp } from "./support/start-app.ts";
import { createUploadClient, partPieces, put, putParts, smallBody } from "./support/upload-client.ts";

const image = await sharp({ create: { width: 9, height: 9, channels: 3, background: "#37a" } })
  .png()
  .toBuffer();
const wanted = {
  fileName: "a.txt",
  fileSize: smallBody.length,
  contentType: "text/plain",
  routeSlug: "default",
};
/** What is signed afresh or never stored. */
const changing = new Set(["uploadUrl", "secret"]);
const lasting = (body: unknown) =>
  JSON.parse(JSON.stringify(body, (name, value) => (changing.has(name) ? undefined : value)));

onAnyDatabase("Idempotency-Key as the contract states it", (database) => {
  it("is honoured by every POST", async (t) => {
    const app = await startApp({
      database,
      env: { UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8", UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" },
    });
    t.after(() => app.close());
    const { live, projectId } = await app.createTenant("pro");
    const client = createUploadClient(app, live);
    const called = new Set<string>();
    const headers = { "idempotency-key": "twice" };

    async function twice(operation: string, body: object, id = "") {
      const path = operation.replace("{id}", id);
      const [first, second] = [
        await client.post(path, body, headers),
        await client.post(path, body, headers),
      ];
      assert.ok(first.status < 300, `${operation}: ${JSON.stringify(first.body)}`);
      assert.equal(second.status, first.status, operation);
      assert.equal(second.headers.get("idempotency-replayed"), "true", operation);
      assert.deepEqual(lasting(second.body), lasting(first.body), operation);
      called.add(`POST /api/v1/${operation}`);
      return first.body;
    }

    const single = await twice("upload/request", wanted);
    await put(single.uploadUrl, smallBody);
    await twice("upload/complete", { fileId: single.fileId });
    const pieces = partPieces();
    const fileSize = Buffer.concat(pieces).length;
    const inParts = await twice("upload/multipart/init", { ...wanted, fileSize });
    const ref = { fileId: inParts.fileId, uploadId: inParts.uploadId };
    await twice("upload/multipart/sign", { ...ref, partNumbers: [1] });
    await twice("upload/multipart/complete", { ...ref, parts: await putParts(inParts, pieces) });
    const { fileId, uploadId } = await client.init();
    await twice("upload/multipart/abort", { fileId, uploadId });
    const batch = await twice("upload/batch/request", { files: [wanted] });
    await put(batch.uploads[0].uploadUrl, smallBody);
    await twice("upload/batch/complete", { files: [{ fileId: batch.uploads[0].fileId }] });

    const links = await twice("files/links", { keys: [single.fileId, "none"], maxUses: 1 });
    assert.equal(links.links.length, 1);
    await twice("files/grants", { routeSlug: "default" });
    await twice("upload/grants", { routeSlug: "default" });
    await twice("files/links/revoke", { keys: [single.fileId] });
    await twice("files/claim", { keys: [single.fileId] });
    await app.call("PATCH", `projects/${projectId}`, { key: live, body: { trashDays: 1 } });
    await app.call("DELETE", `files/${encodeURIComponent(single.key)}`, { key: live });
    await twice("files/restore", { keys: [single.fileId] });
    await twice("upload/import", { url: `${app.url}/healthz`, routeSlug: "default" });
    await twice("files/read-keys/rotate", {});

    await twice("projects", { name: "once", createKeys: ["live"] });
    await twice("projects/{id}/keys", {}, projectId);
    const route = { slug: "hooked", webhookUrl: "https://127.0.0.1:9/nobody" };
    const { router } = await twice("projects/{id}/routers", route, projectId);
    await twice("routers/{id}/test", {}, router.id);
    const fields = { fileName: "a.png", contentType: "image/png", routeSlug: "hooked" };
    const { key } = await client.upload(image, fields);
    await twice("transforms/image", { key, width: 5 });
    const { deliveries } = (await app.call("GET", "webhooks/deliveries", { key: live })).body;
    await twice("webhooks/deliveries/{id}/redeliver", {}, deliveries[0].id);
    await twice("webhooks/deliveries/redeliver", { ids: [deliveries[0].id] });
    await twice("webhooks/signing-keys/rotate", {});

    const { body } = await app.call("GET", "projects", { key: live });
    assert.equal(body.projects.filter(({ name }: { name: string }) => name === "once").length, 1);
    const described = (await listOperations(app)).filter(
      ({ name, needsKey }) => needsKey && name.startsWith("POST "),
    );
    assert.deepEqual(described.map(({ name }) => name).sort(), [...called].sort());
  });
});
