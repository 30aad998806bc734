import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, it } from "node:test";
import { FORM_LIMITS, PART_SIZE_BYTES } from "@upstow/contract";
import { countEvents } from "./support/imports/import-client.ts";
import { assertCountersMatch, deletionsDone } from "./support/recount.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import type { UploadClient } from "./support/upload-client.ts";
import { createTenantClients } from "./support/upload-life.ts";

onAnyDatabase("an HTML form", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  async function grantFor(client: UploadClient, fields: object = {}): Promise<string> {
    const answer = await client.post("upload/grants", { routeSlug: "default", maxFiles: 10, ...fields });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.grant.token;
  }

  async function send(token: string, form: FormData | string, headers: Record<string, string> = {}) {
    const url = `${app.url}/form/${token}`;
    const response = await fetch(url, { method: "POST", body: form, headers, redirect: "manual" });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    return {
      status: response.status,
      location: response.headers.get("location"),
      body: isJson ? JSON.parse(text) : text,
    };
  }

  const fileOf = (bytes: Buffer | string, name: string, type = "text/plain") =>
    new File([bytes as Buffer<ArrayBuffer>], name, { type });

  async function bytesAt(url: string): Promise<Buffer> {
    return Buffer.from(await (await fetch(url)).arrayBuffer());
  }

  it("is taken from scripts of any page, also where the browser asks first", async () => {
    const { client } = await createTenantClients(app);
    const token = await grantFor(client);
    const url = `${app.url}/form/${token}`;
    const origin = "https://page.example";
    const asked = await fetch(url, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-requested-with",
      },
    });
    assert.equal(asked.status, 204);
    assert.equal(asked.headers.get("access-control-allow-origin"), "*");
    assert.equal(asked.headers.get("access-control-allow-methods"), "POST");
    assert.equal(asked.headers.get("access-control-allow-headers"), "x-requested-with");
    const form = new FormData();
    form.append("file", fileOf("hello", "hello.txt"));
    for (const body of [form, new FormData()]) {
      const sent = await fetch(url, { method: "POST", body, headers: { origin } });
      assert.equal(sent.headers.get("access-control-allow-origin"), "*");
      assert.equal(sent.status, body === form ? 200 : 400);
    }
  });

  it("uploads its files one by one, with the fields before each as metadata", async () => {
    const { client, tenant } = await createTenantClients(app);
    const token = await grantFor(client, { metadata: { order: "7" }, audience: "order-7" });
    const big = randomBytes(2 * PART_SIZE_BYTES + 77);
    const form = new FormData();
    form.append("order", "forged");
    form.append("note", "första");
    form.append("first", fileOf("hello", "hëllo.txt"));
    form.append("note", "second");
    form.append("big", fileOf(big, "big.bin", "application/octet-stream"));
    form.append("empty", fileOf("", 'an "empty" 100%.txt'));
    form.append("nothing chosen", fileOf("", ""));
    form.append("late", "not in any metadata");
    const { status, body } = await send(token, form);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.failures, []);
    assert.deepEqual(
      // biome-ignore lint/suspicious/noExplicitAny: of the answer
      body.files.map(({ name, size, type, status, metadata, audience }: any) => [
        name,
        size,
        type,
        status,
        metadata,
        audience,
      ]),
      [
        ["hëllo.txt", 5, "text/plain", "UPLOADED", { order: "7", note: "första" }, "order-7"],
        [
          "big.bin",
          big.length,
          "application/octet-stream",
          "UPLOADED",
          { order: "7", note: ["första", "second"] },
          "order-7",
        ],
        [
          'an "empty" 100%.txt',
          0,
          "text/plain",
          "UPLOADED",
          { order: "7", note: ["första", "second"] },
          "order-7",
        ],
      ],
    );
    assert.deepEqual(await bytesAt(body.files[1].url), big);
    assert.equal((await bytesAt(body.files[2].url)).length, 0);
    for (const { id } of body.files) assert.equal(await countEvents(app, id), 1);
    await assertCountersMatch(app, tenant.projectId, { live: 3 });
  });

  it("shortens names that are too long, but keeps their extensions", async () => {
    const { client } = await createTenantClients(app);
    const form = new FormData();
    form.append("file", fileOf("hello", `${"n".repeat(300)}.txt`));
    const { body } = await send(await grantFor(client), form);
    assert.equal(body.files[0].name, `${"n".repeat(251)}.txt`);
  });

  it("takes what it can, and says of each other file why not", async () => {
    const { client, tenant } = await createTenantClients(app);
    const route = { slug: "small", maxFileSize: 100, allowedTypes: ["text/plain"] };
    assert.equal((await client.post(`projects/${tenant.projectId}/routers`, route)).status, 201);
    const token = await grantFor(client, { routeSlug: "small", maxFiles: 2 });
    const form = new FormData();
    form.append("a", fileOf("<p>", "page.html", "text/html"));
    form.append("b", fileOf("x".repeat(101), "large.txt"));
    form.append("c", fileOf("x".repeat(100), "fits.txt"));
    form.append("d", fileOf("two", "two.txt"));
    form.append("e", fileOf("three", "three.txt"));
    const { status, body } = await send(token, form);
    assert.equal(status, 207);
    assert.deepEqual(
      body.files.map(({ name }: { name: string }) => name),
      ["fits.txt", "two.txt"],
    );
    assert.deepEqual(
      body.failures.map(({ name, code }: { name: string; code: string }) => [name, code]),
      [
        ["page.html", "INVALID_FILE_TYPE"],
        ["large.txt", "TIER_LIMIT_EXCEEDED"],
        ["three.txt", "FORBIDDEN"],
      ],
    );
    assert.match(body.failures[2].message, /used up/);
    const refused = new FormData();
    refused.append("a", fileOf("<p>", "page.html", "text/html"));
    const other = await grantFor(client, { routeSlug: "small" });
    const none = await send(other, refused);
    assert.deepEqual([none.status, none.body.files, none.body.error.code], [400, [], "INVALID_FILE_TYPE"]);
    const large = new FormData();
    large.append("b", fileOf("x".repeat(101), "large.txt"));
    assert.equal((await send(other, large)).status, 413);
    await deletionsDone(app);
    await assertCountersMatch(app, tenant.projectId, { live: 2 });
  });

  it("redirects to the route's origins only", async () => {
    const { client, tenant } = await createTenantClients(app);
    const origins = ["https://www.example.com", "http://localhost:3000"];
    const made = await client.post(`projects/${tenant.projectId}/routers`, {
      slug: "web",
      formOrigins: origins,
    });
    assert.deepEqual([made.status, made.body.router.formOrigins], [201, origins]);
    const token = await grantFor(client, { routeSlug: "web", maxFiles: 20 });
    const sendTo = async (redirect: string, extra = false) => {
      const form = new FormData();
      form.append("a", fileOf("a", "a.txt"));
      if (extra) form.append("b", fileOf("b", "b.txt"));
      form.append("success_redirect", redirect);
      return send(token, form);
    };
    const gone = await sendTo("https://www.example.com/thanks?x=1#top", true);
    assert.equal(gone.status, 303);
    const location = new URL(gone.location ?? "");
    assert.deepEqual([location.origin, location.pathname, location.hash], [origins[0], "/thanks", "#top"]);
    const ids = location.searchParams.getAll("fileId");
    assert.equal(ids.length, 2);
    for (const id of ids) assert.equal((await client.get(id)).body.file.status, "UPLOADED");
    assert.deepEqual((await client.get(ids[0] ?? "")).body.file.metadata, {});
    for (const url of [
      "https://evil.example/",
      "https://www.example.com.evil.example/",
      "https://www.example.com@evil.example/",
      "https://user@www.example.com/",
      "//evil.example/",
      "/relative",
      "javascript:alert(1)",
      "http://www.example.com/",
    ]) {
      const { status, body } = await sendTo(url);
      assert.deepEqual([status, body.files.length], [200, 1], url);
    }
    const changed = await app.call("PATCH", `routers/${made.body.router.id}`, {
      key: client.key,
      body: { formOrigins: [] },
    });
    assert.deepEqual([changed.status, changed.body.router.formOrigins], [200, []]);
    assert.equal((await sendTo("https://www.example.com/")).status, 200);
    for (const wrong of [
      "https://www.example.com/",
      "https://www.example.com/path",
      "https://",
      "https://EXAMPLE.com",
      "http://a b",
    ]) {
      const answer = await client.post(`projects/${tenant.projectId}/routers`, {
        slug: "bad",
        formOrigins: [wrong],
      });
      assert.deepEqual([answer.status, answer.body.error?.code], [400, "VALIDATION_ERROR"], wrong);
    }
  });

  it("is refused with a wrong grant, without files, and beyond its bounds", async () => {
    const { client, tenant } = await createTenantClients(app);
    const form = () => {
      const made = new FormData();
      made.append("a", fileOf("a", "a.txt"));
      return made;
    };
    assert.equal((await send("upg_unknown", form())).status, 401);
    const token = await grantFor(client, { maxFiles: 1 });
    assert.equal(
      (await send(token, "a=b", { "content-type": "application/x-www-form-urlencoded" })).status,
      400,
    );
    assert.equal((await send(token, "x", { "content-type": "multipart/form-data" })).status, 400);
    assert.equal((await send(token, "x", { "content-type": "multipart/form-data; boundary=b" })).status, 400);
    const empty = new FormData();
    empty.append("a", "text");
    assert.equal((await send(token, empty)).status, 400);
    for (const overfill of [
      (made: FormData) => made.append("long", "x".repeat(FORM_LIMITS.valueBytes + 1)),
      (made: FormData) => made.append("n".repeat(FORM_LIMITS.nameBytes + 1), "x"),
      (made: FormData) => {
        for (let i = 0; i <= FORM_LIMITS.fields; i++) made.append(`f${i}`, "x");
      },
    ]) {
      const made = new FormData();
      overfill(made);
      made.append("a", fileOf("a", "a.txt"));
      const answer = await send(token, made);
      assert.deepEqual([answer.status, answer.body.error?.code], [400, "VALIDATION_ERROR"]);
    }
    assert.equal((await send(token, form())).status, 200);
    const usedUp = await send(token, form());
    assert.deepEqual([usedUp.status, usedUp.body.error.code], [403, "FORBIDDEN"]);
    await assertCountersMatch(app, tenant.projectId, { live: 1 });
  });

  it("leaves nothing of a file whose connection was cut, and gives its place back", async () => {
    const { client, tenant } = await createTenantClients(app);
    const token = await grantFor(client, { maxFiles: 1 });
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    const head = '--b\r\nContent-Disposition: form-data; name="a"; filename="cut.bin"\r\n\r\n';
    socket.write(
      `POST /form/${token} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 20000000\r\n\r\n${head}`,
    );
    socket.write(randomBytes(PART_SIZE_BYTES + 1000));
    const statuses = async () =>
      (await client.list()).body.files.map(({ status }: { status: string }) => status).join();
    while ((await statuses()) !== "UPLOADING") await new Promise(setImmediate);
    const { usage } = (await app.call("GET", "usage", { key: tenant.live })).body;
    assert.equal(usage.reservedBytes, 20_000_000, "no more than can still come");
    socket.destroy();
    while ((await statuses()) !== "") await new Promise(setImmediate);
    await deletionsDone(app);
    const form = new FormData();
    form.append("a", fileOf("again", "again.txt"));
    assert.equal((await send(token, form)).status, 200);
    await assertCountersMatch(app, tenant.projectId, { live: 1 });
  });
});
