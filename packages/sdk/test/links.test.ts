import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { createUpstow, type Upstow } from "../src/index.ts";
import { importReadKey, signLink } from "../src/links/sign.ts";

describe("links and grants of the SDK", () => {
  let app: TestApp;
  let upstow: Upstow;
  const calls: string[] = [];
  before(async () => {
    app = await startApp();
    const { live } = await app.createTenant("pro");
    upstow = createUpstow({
      apiKey: live,
      baseUrl: app.url,
      fetch: (url, init) => {
        calls.push(`${init?.method} ${new URL(String(url)).pathname}`);
        return fetch(url, init);
      },
    });
  });
  after(() => app.close());

  const upload = (name: string, options = {}) =>
    upstow.upload(new File(["secret"], name, { type: "text/plain" }), { access: "private", ...options });
  const statusOf = async (url: string) => {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    return answer.status;
  };

  it("are signed without a call, once the key is known", async () => {
    const file = await upload("größe 1.txt");
    assert.equal(file.access, "private");
    assert.equal(await statusOf(file.url), 404);
    await upstow.files.link(file.key);
    calls.length = 0;
    const links = await Promise.all([
      upstow.files.link(file.key),
      upstow.files.link(file.id),
      upstow.files.link(file.key, { download: true, expiresIn: 604_800 }),
      upstow.files.link(file.key, { download: "a/b ä.txt" }),
      upstow.files.link(file.key, { download: "half \ud83d.txt" }),
    ]);
    const grants = await Promise.all([
      upstow.files.grant({ routeSlug: "default" }),
      upstow.files.grant({ prefix: `default/${file.id}/`, expiresIn: 86_400, subject: "ann" }),
    ]);
    assert.deepEqual(calls, []);
    for (const url of [...links, ...grants.map((grant) => grant.url(file.key))]) {
      const answer = await fetch(url);
      assert.equal(answer.status, 200, url);
      assert.equal(await answer.text(), "secret");
    }
    const saved = await fetch(links[3] ?? "");
    assert.match(saved.headers.get("content-disposition") ?? "", /attachment.*a_b%20%C3%A4\.txt/);
  });

  it("refuse what the service would not take", async () => {
    for (const expiresIn of [1, 604_800]) assert.ok(await upstow.files.link("a", { expiresIn }));
    assert.ok(await upstow.files.grant({ routeSlug: "a", expiresIn: 1 }));
    for (const wrong of [
      () => upstow.files.link("a", { expiresIn: 0 }),
      () => upstow.files.link("a", { expiresIn: 1.5 }),
      () => upstow.files.link("a", { expiresIn: 604_801 }),
      () => upstow.files.grant({ routeSlug: "a", expiresIn: 86_401 }),
      () => upstow.files.grant({}),
      () => upstow.files.grant({ routeSlug: "a", audience: "b" }),
    ])
      await assert.rejects(wrong(), { code: "VALIDATION_ERROR" });
  });

  it("are signed alike where there is no Node", async (t) => {
    const facts = { fileId: "01hzzzzzzzzzzzzzzzzzzzzzzz", signedAt: 1, expiresAt: 2, shown: "i" } as const;
    const inNode = await signLink(await importReadKey("rdk_ä"), facts, "größe");
    const refuse = () => {
      throw new Error("not supported in the Edge Runtime");
    };
    for (const load of [() => undefined, refuse]) {
      const { mock } = t.mock.method(process, "getBuiltinModule", load);
      assert.equal(await signLink(await importReadKey("rdk_ä"), facts, "größe"), inNode);
      assert.equal(mock.callCount(), 1);
      mock.restore();
    }
  });

  it("are signed with the new key a minute after a rotation, and with the old one while it cannot be read", async (t) => {
    const answers: (string | null)[] = [];
    const { live } = await app.createTenant("pro");
    const client = createUpstow({
      apiKey: live,
      baseUrl: app.url,
      fetch: async () => {
        const current = answers.shift();
        return current === null
          ? Response.json({ error: { code: "FORBIDDEN", message: "not now" } }, { status: 403 })
          : Response.json({ current, next: "rdk_z" });
      },
    });
    t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
    const sign = () => client.files.link("01hzzzzzzzzzzzzzzzzzzzzzzz/default/01hzzzzzzzzzzzzzzzzzzzzzzz/a");
    const signedWith = async (readKey: string) => {
      const now = Date.now();
      const facts = { fileId: "01hzzzzzzzzzzzzzzzzzzzzzzz", signedAt: now, expiresAt: now + 3_600_000 };
      return `${app.url}/s/${await signLink(await importReadKey(readKey), { ...facts, shown: "i" }, "a")}`;
    };
    /** A key that is read meanwhile is used as soon as it is there. */
    const expectSoon = async (readKey: string) => {
      const isThere = async () => (await sign()) === (await signedWith(readKey));
      for (let i = 0; i < 1_000; i++) if (await isThere()) return;
      assert.fail(`${readKey} is never used`);
    };
    answers.push(null, "rdk_a");
    await assert.rejects(sign(), { code: "FORBIDDEN" });
    assert.equal(await sign(), await signedWith("rdk_a"));
    answers.push("rdk_b");
    t.mock.timers.setTime(Date.now() + 60_000);
    assert.equal(await sign(), await signedWith("rdk_a"));
    assert.equal(answers.length, 1);
    t.mock.timers.setTime(Date.now() + 1);
    // This one asks, and does not wait.
    assert.equal(await sign(), await signedWith("rdk_a"));
    await expectSoon("rdk_b");
    answers.push(null, "rdk_c");
    t.mock.timers.setTime(Date.now() + 60_001);
    for (let i = 0; i < 20; i++) assert.equal(await sign(), await signedWith("rdk_b"));
    assert.equal(answers.length, 1);
    t.mock.timers.setTime(Date.now() + 60_001);
    await expectSoon("rdk_c");
    answers.push("rdk_d", "rdk_e", null);
    t.mock.timers.setTime(Date.now() + 120_000);
    assert.equal(await sign(), await signedWith("rdk_c"), "asks, and does not wait");
    await expectSoon("rdk_d");
    t.mock.timers.setTime(Date.now() + 120_001);
    assert.equal(await sign(), await signedWith("rdk_e"), "waits after idle minutes");
    t.mock.timers.setTime(Date.now() + 3_600_000);
    assert.equal(await sign(), await signedWith("rdk_e"), "signs with the old key if there is no other");
    assert.equal(answers.length, 0);
  });

  it("end when they are revoked, and the next ones work", async () => {
    const file = await upload("b.txt", { audience: "order:1" });
    const link = await upstow.files.link(file.key);
    const grant = await upstow.files.grant({ audience: "order:1" });
    assert.deepEqual(await upstow.links.revoke({ keys: [file.key] }), { revoked: 1, failures: [] });
    assert.equal(await statusOf(link), 403);
    assert.equal(await statusOf(await upstow.files.link(file.key)), 200);
    assert.equal(await statusOf(grant.url(file.key)), 200);
    await upstow.links.revoke({ audience: "order:1" });
    assert.equal(await statusOf(grant.url(file.key)), 403);
    assert.equal(await statusOf((await upstow.files.grant({ audience: "order:1" })).url(file.key)), 200);
    assert.equal((await upstow.links.revoke({ keys: ["none"] })).failures.length, 1);
  });

  it("count their uses where the service makes them", async () => {
    const file = await upload("c.txt");
    const { links, failures } = await upstow.links.create({ keys: [file.key, "none"], maxUses: 1 });
    assert.deepEqual(
      failures.map(({ key }) => key),
      ["none"],
    );
    const url = links[0]?.url ?? "";
    assert.deepEqual([await statusOf(url), await statusOf(url)], [200, 403]);
  });

  it("are signed with the key that is given", async () => {
    const file = await upload("d.txt");
    const { next } = await upstow.links.readKeys.get();
    const offline = createUpstow({
      apiKey: "svc_live_unused",
      baseUrl: "http://127.0.0.1:9",
      cdnUrl: `${app.url}/`,
      readKey: next,
    });
    const link = await offline.files.link(file.key);
    assert.equal(await statusOf(link), 200);
    const { current } = await upstow.links.readKeys.rotate();
    assert.equal(current, next);
    assert.equal(await statusOf(link), 200);
  });

  it("has upload grants, which only upload", async () => {
    const grant = await upstow.grants.create({ routeSlug: "default", maxFiles: 2, metadata: { user: "u1" } });
    assert.match(grant.token, /^upg_/);
    const headers = { "tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream" };
    const sent = await fetch(`${app.url}/tus`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${grant.token}`, "upload-length": "5" },
      body: "bytes",
    });
    assert.equal(sent.status, 201);
    const file = await upstow.files.get(sent.headers.get("upstow-file-id") ?? "");
    assert.deepEqual(file.metadata, { user: "u1" });
  });
});
