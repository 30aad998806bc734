import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, it } from "node:test";
import sharp from "sharp";
import { expectRecorded } from "./support/audit-trail.ts";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";
import { type Certificate, createCertificate, trustCertificate } from "./support/webhooks/certificate.ts";
import { type Received, type Receiver, startReceiver } from "./support/webhooks/receiver.ts";

let certificate: Certificate;
before(async () => {
  certificate = await createCertificate(["localhost"]);
  trustCertificate(certificate);
});

onAnyDatabase("the CDN domain of a project", (database) => {
  let app: TestApp;
  /** A customer's CDN at a name of its own. */
  let cdn: Receiver;
  let domain: string;
  let tenant: Tenant;
  let owner: ConsoleCall;
  before(async () => {
    app = await startApp({
      database,
      env: {
        UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
        UPSTOW_CDN_PURGE: "https://127.0.0.1:9/purge",
      },
    });
    cdn = await startReceiver(certificate);
    domain = `https://localhost:${cdn.port}`;
    cdn.answer = handOn;
    tenant = await app.createTenant("pro");
    owner = await signInAs(app, tenant.accountId);
  });
  after(async () => {
    await app.close();
    await cdn.close();
  });

  const path = () => `/projects/${tenant.projectId}/cdn-domain`;
  const set = (wanted: string) => owner("PUT", path(), { domain: wanted });

  async function handOn({ path }: Received, response: ServerResponse, headers = {}): Promise<void> {
    const answer = await fetch(app.url + path, { headers });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(await answer.text());
  }

  const expectRefusal = async (wanted: string, words: RegExp) => {
    const { status, body } = await set(wanted);
    assert.deepEqual([status, body.error.code], [400, "VALIDATION_ERROR"], wanted);
    assert.match(body.error.message, words);
    const settings = await owner("GET", `/in/${tenant.projectId}/live/delivery-settings`);
    assert.equal(settings.body.ownUrl, null);
  };

  it("is refused with what is wrong with it", async () => {
    await expectRefusal("http://files.example.com", /https:\/\//);
    await expectRefusal("https://files.example.com/path", /without a path/);
    await expectRefusal("user:secret@files.example.com", /user name or a password/);
    await expectRefusal("10.0.0.1", /not public/);
    // Longer than a label of a name may be, so that no server has to be asked.
    await expectRefusal(`${"x".repeat(64)}.example`, /not in DNS.*CNAME/);
    await expectRefusal(`127.0.0.2:${cdn.port}`, /does not accept HTTPS/);
    cdn.answer = (_request, response) => void response.writeHead(302, { location: "/" }).end();
    await expectRefusal(domain, /redirects \(302\)/);
    cdn.answer = (_request, response) => void response.end("a parking page");
    await expectRefusal(domain, /responds \(200\), but not from this service/);
    cdn.answer = (request, response) => handOn(request, response, { "x-forwarded-proto": "http" });
    await expectRefusal(domain, /over plain HTTP/);
    cdn.answer = (_request, response) => void response.destroy();
    await expectRefusal(domain, /was closed before a response arrived/);
    const stranger = await startReceiver(await createCertificate(["localhost"]));
    await expectRefusal(`localhost:${stranger.port}`, /certificate .* is invalid/);
    await stranger.close();
    cdn.answer = handOn;
  });

  it("is in every URL that is given out from then on, until it is removed", async () => {
    const image = await sharp({ create: { width: 9, height: 9, channels: 3, background: "#37a" } })
      .png()
      .toBuffer();
    const before = await uploadFile(app, image, { key: tenant.live, name: "a.png", type: "image/png" });
    assert.ok(before.url.startsWith(`${app.url}/f/`));
    const recorded = await expectRecorded(app, { action: "domain.set", by: "user" }, async () => {
      assert.deepEqual((await set(`localhost:${cdn.port}/`)).body, { ownUrl: domain });
    });
    assert.equal(recorded.changes, `{"domain":{"to":"${domain}/"}}`);
    assert.deepEqual((await owner("POST", `${path()}/check`)).body, { problem: null });

    const asked = await app.call("POST", "upload/request", {
      key: tenant.live,
      body: { fileName: "b", fileSize: 1, contentType: "text/plain", routeSlug: "default" },
    });
    assert.equal(asked.body.cdnUrl, `${domain}/f/${asked.body.key}`);
    const file = await uploadFile(app, "hello", { key: tenant.live, name: "c.txt" });
    assert.equal(file.url, `${domain}/f/${file.key}`);
    const { files } = (await app.call("GET", "files", { key: tenant.live })).body;
    for (const { url, key } of files) assert.equal(url, `${domain}/f/${key}`);
    const one = await app.call("GET", `files/${encodeURIComponent(before.key)}`, { key: tenant.live });
    assert.equal(one.body.file.url, `${domain}/f/${before.key}`);
    const found = (await owner("GET", `/in/${tenant.projectId}/live/search?name=c.txt`)).body.files[0];
    assert.deepEqual([found.url, found.contentUrl], [file.url, `${app.url}/f/${file.key}`]);
    const variant = await app.call("POST", "transforms/image", {
      key: tenant.live,
      body: { key: before.key, width: 5, format: "webp", delivery: "public" },
    });
    assert.ok(variant.body.url.startsWith(`${domain}/p/`));

    assert.equal(await (await fetch(file.url)).text(), "hello");
    const { pathname } = new URL(variant.body.url);
    for (const path of [pathname, new URL(before.url).pathname]) {
      const served = await app.call("GET", path);
      assert.equal(served.status, 200);
      assert.equal(
        served.headers.get("cdn-cache-control"),
        null,
        "a cache that nobody purges may keep nothing",
      );
    }

    await expectRecorded(app, { action: "domain.removed", by: "user" }, async () => {
      assert.equal((await owner("DELETE", path())).status, 200);
    });
    const after = await app.call("GET", `files/${encodeURIComponent(file.key)}`, { key: tenant.live });
    assert.equal(after.body.file.url, `${app.url}/f/${file.key}`);
    const served = await app.call("GET", new URL(before.url).pathname);
    assert.match(served.headers.get("cdn-cache-control") ?? "", /max-age/);
    assert.equal((await owner("DELETE", path())).status, 404);
    const logs = (await app.call("GET", "logs?type=project.updated", { key: tenant.live })).body.logs;
    assert.deepEqual(
      logs.map((log: { message: string }) => log.message),
      [`Files are no longer served at ${domain}.`, `Files are now served at ${domain}.`],
    );
  });

  it("is in the events that webhooks get, and of no other project", async () => {
    const other = await app.createTenant("pro");
    await set(domain);
    const hooks = await startReceiver(certificate);
    const webhookUrl = `https://localhost:${hooks.port}/hook`;
    for (const { projectId, live } of [tenant, other]) {
      const body = { slug: "hooked", webhookUrl };
      await app.call("POST", `projects/${projectId}/routers`, { key: live, body });
    }
    const mine = await uploadFile(app, "x", { key: tenant.live, routeSlug: "hooked" });
    const theirs = await uploadFile(app, "x", { key: other.live, routeSlug: "hooked" });
    await hooks.waitFor(2);
    const urls = hooks.received.map(({ body }) => JSON.parse(body.toString()).file.url).toSorted();
    const expected = [`${domain}/f/${mine.key}`, `${app.url}/f/${theirs.key}`];
    assert.deepEqual(urls, expected.toSorted());
    await hooks.close();
    await owner("DELETE", path());
  });
});
