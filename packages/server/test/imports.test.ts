import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { after, before, it } from "node:test";
import { PART_SIZE_BYTES } from "@upstow/contract";
import { countEvents, countImports, importFrom, settled } from "./support/imports/import-client.ts";
import { cutAfter, type Source, serve, startSource } from "./support/imports/source.ts";
import { assertCountersMatch, deletionsDone } from "./support/recount.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { createUploadClient } from "./support/upload-client.ts";
import { createTenantClients, listLogTypes, statusOf } from "./support/upload-life.ts";

onBothDatabases("importing from a URL", (database) => {
  let app: TestApp;
  let source: Source;

  before(async () => {
    source = await startSource();
    app = await startApp({
      database,
      env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" },
      imports: { retryMs: 5, leaseMs: 6_000 },
    });
  });
  after(async () => {
    await app.close();
    await source.close();
  });

  async function bytesAt(url: string): Promise<Buffer> {
    return Buffer.from(await (await fetch(url)).arrayBuffer());
  }

  it("answers at once, and the file ends like every upload, with one event", async () => {
    const { client, tenant } = await createTenantClients(app);
    const bytes = randomBytes(100_000);
    source.paths.set("/a/photo%20one.jpg?sig=1", serve(bytes, "image/jpeg"));
    const answer = await client.post("upload/import", {
      url: `${source.url}/a/photo%20one.jpg?sig=1`,
      routeSlug: "default",
      metadata: { order: 7 },
      audience: "order-7",
    });
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    const { file } = answer.body;
    assert.deepEqual(
      [file.status, file.name, file.metadata, file.audience, file.progress],
      ["UPLOADING", "photo one.jpg", { order: 7 }, "order-7", { receivedBytes: 0, totalBytes: null }],
    );
    const done = await settled(client, file.id);
    assert.deepEqual(
      [done.status, done.size, done.type, done.key, done.progress, done.failure],
      ["UPLOADED", bytes.length, "image/jpeg", file.key, undefined, undefined],
    );
    assert.deepEqual(await bytesAt(done.url), bytes);
    assert.deepEqual(await listLogTypes(app, file.id), ["upload.requested", "upload.completed"]);
    assert.deepEqual([await countEvents(app, file.id), await countImports(app, file.id)], [1, 0]);
    await assertCountersMatch(app, tenant.projectId, { live: 1 });
  });

  it("asks like a stranger: no credentials, no cookies, nothing compressed", async () => {
    const { client } = await createTenantClients(app);
    const hop = (to: string) => (_: unknown, response: ServerResponse) =>
      void response.writeHead(302, { location: to, "set-cookie": "a=b" }).end();
    source.paths.set("/r1", hop("/r2"));
    source.paths.set("/r2", hop(`${source.url}/r3`));
    source.paths.set("/r3", hop("r4?x=1"));
    source.paths.set("/r4?x=1", serve(Buffer.from("after three hops"), "text/plain"));
    const done = await importFrom(client, `${source.url}/r1`, {
      fileName: "mine.txt",
      contentType: "text/csv",
    });
    assert.deepEqual([done.status, done.name, done.type], ["UPLOADED", "mine.txt", "text/csv"]);
    const asked = source.requests.filter(({ url }) => url?.startsWith("/r"));
    assert.equal(asked.length, 4);
    for (const { headers } of asked) {
      assert.deepEqual(
        [headers.authorization, headers.cookie, headers.referer],
        [undefined, undefined, undefined],
      );
      assert.equal(headers["accept-encoding"], "identity");
    }
  });

  it("takes files whose size is unknown until their end, and files without a byte", async () => {
    const { client, tenant } = await createTenantClients(app);
    const bytes = randomBytes(2 * PART_SIZE_BYTES + 12_345);
    source.paths.set("/chunked", (_, response) => {
      response.write(bytes.subarray(0, 100));
      response.end(bytes.subarray(100));
    });
    source.paths.set("/empty", (_, response) => void response.end());
    const [whole, empty] = await Promise.all([
      importFrom(client, `${source.url}/chunked`),
      importFrom(client, `${source.url}/empty`),
    ]);
    assert.deepEqual([whole.status, whole.size], ["UPLOADED", bytes.length]);
    assert.deepEqual(await bytesAt(whole.url), bytes);
    assert.deepEqual([empty.status, empty.size], ["UPLOADED", 0]);
    assert.deepEqual(await bytesAt(empty.url), Buffer.alloc(0));
    await assertCountersMatch(app, tenant.projectId, { live: 2 });
  });

  it("continues where a broken connection ended, if the source allows it", async () => {
    const { client } = await createTenantClients(app);
    const bytes = randomBytes(2 * PART_SIZE_BYTES + 500);
    source.paths.set("/breaks", cutAfter(PART_SIZE_BYTES + 300_000, 1, serve(bytes)));
    const done = await importFrom(client, `${source.url}/breaks`);
    assert.equal(done.status, "UPLOADED", JSON.stringify(done.failure));
    assert.deepEqual(await bytesAt(done.url), bytes);
    const asked = source.requests.filter(({ url }) => url === "/breaks").map(({ headers }) => headers);
    assert.deepEqual(
      asked.map((headers) => [headers.range, headers["if-range"]]),
      [
        [undefined, undefined],
        [`bytes=${PART_SIZE_BYTES}-`, '"1"'],
      ],
    );
  });

  it("starts anew with a source that cannot continue, or whose file has changed", async () => {
    const { client, tenant } = await createTenantClients(app);
    const bytes = randomBytes(2 * PART_SIZE_BYTES + 500);
    const later = randomBytes(PART_SIZE_BYTES + 9);
    const plain = serve(bytes, "application/octet-stream", 'W/"weak"');
    source.paths.set("/forgets", cutAfter(PART_SIZE_BYTES + 300_000, 1, plain));
    let version = serve(bytes);
    source.paths.set("/changes", (request, response) => {
      cutAfter(PART_SIZE_BYTES + 300_000, 1, version)(request, response);
      version = serve(later, "application/octet-stream", '"2"');
      source.paths.set("/changes", version);
    });
    const [same, changed] = await Promise.all(
      ["forgets", "changes"].map((path) => importFrom(client, `${source.url}/${path}`)),
    );
    assert.deepEqual([same.status, changed.status], ["UPLOADED", "UPLOADED"]);
    assert.deepEqual(await bytesAt(same.url), bytes);
    assert.deepEqual(await bytesAt(changed.url), later);
    await assertCountersMatch(app, tenant.projectId, { live: 2 });
  });

  it("tells how far it is, and stops when the file is deleted", async () => {
    const { client, tenant } = await createTenantClients(app);
    const closed = Promise.withResolvers<void>();
    source.paths.set("/stalls", (_, response) => {
      response.writeHead(200, { "content-length": 3 * PART_SIZE_BYTES });
      response.write(randomBytes(PART_SIZE_BYTES + 1));
      response.once("close", closed.resolve);
    });
    const { body } = await client.post("upload/import", {
      url: `${source.url}/stalls`,
      routeSlug: "default",
    });
    const { id } = body.file;
    const wanted = { receivedBytes: PART_SIZE_BYTES + 1, totalBytes: 3 * PART_SIZE_BYTES };
    for (;;) {
      const { file } = (await client.get(id)).body;
      assert.equal(file.status, "UPLOADING");
      if (file.progress.receivedBytes < wanted.receivedBytes) continue;
      assert.deepEqual([file.progress, file.size], [wanted, wanted.totalBytes]);
      break;
    }
    await assertCountersMatch(app, tenant.projectId);
    assert.equal((await client.remove(body.file.key)).status, 200);
    await closed.promise;
    assert.equal(await statusOf(client, id), "404");
    await deletionsDone(app);
    while ((await countImports(app, id)) > 0) await new Promise(setImmediate);
    await assertCountersMatch(app, tenant.projectId);
  });

  it("runs four of an account at once, whatever the project, and those of others meanwhile", async () => {
    const { client, tenant } = await createTenantClients(app);
    const made = await app.call("POST", "projects", {
      key: tenant.live,
      body: { name: "second", createKeys: ["live"] },
    });
    const second = createUploadClient(app, made.body.keys[0].secret);
    const { client: other } = await createTenantClients(app);
    const held: ServerResponse[] = [];
    source.paths.set("/held", (_, response) => void held.push(response));
    source.paths.set("/quick", serve(Buffer.from("quick")));
    const url = `${source.url}/held`;
    const many = Array.from({ length: 6 }, (_, i) => importFrom(i % 2 === 0 ? client : second, url));
    while (held.length < 4) await once(app.app.http.server, "request");
    assert.equal((await importFrom(other, `${source.url}/quick`)).status, "UPLOADED");
    assert.equal(held.length, 4);
    for (let ended = 0; ended < 6; ended++) {
      while (held.length <= ended) await new Promise(setImmediate);
      assert.ok(held.length - ended <= 4);
      held[ended]?.end("x");
    }
    for (const file of await Promise.all(many)) assert.equal(file.status, "UPLOADED");
  });

  it("replays its answer to a repeated call", async () => {
    const { client } = await createTenantClients(app);
    source.paths.set("/once", serve(Buffer.from("once")));
    const body = { url: `${source.url}/once`, routeSlug: "default" };
    const headers = { "idempotency-key": "import-1" };
    const first = await client.post("upload/import", body, headers);
    const again = await client.post("upload/import", body, headers);
    assert.deepEqual([first.status, again.status, again.body], [202, 202, first.body]);
    assert.equal((await settled(client, first.body.file.id)).status, "UPLOADED");
  });
});
