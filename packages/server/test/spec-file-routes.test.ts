import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createId } from "../src/kernel/ids.ts";
import { readTrail } from "./support/audit-trail.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import {
  type CallOptions,
  onBothDatabases,
  startApp,
  type Tenant,
  type TestApp,
} from "./support/start-app.ts";

const fields = [
  "id",
  "projectId",
  "slug",
  "allowedTypes",
  "maxFileSize",
  "webhookUrl",
  "environment",
  "access",
  "expireAfterDays",
  "claimWithin",
  "keepLocation",
  "checkContent",
  "stripMetadata",
  "scan",
  "scanUnknown",
  "formOrigins",
  "createdAt",
  "updatedAt",
];

onBothDatabases("file routes", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  before(async () => {
    app = await startApp({ database, env: { UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.7" } });
    tenant = await app.createTenant("pro");
  });
  after(() => app.close());
  const create = (body: CallOptions["body"], key = tenant.live) =>
    app.call("POST", `projects/${tenant.projectId}/routers`, { key, body });
  const created = async (body: object, key = tenant.live) => {
    const answer = await create(body, key);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.router;
  };
  const patch = (id: string, body: object, key = tenant.live) =>
    app.call("PATCH", `routers/${id}`, { key, body });

  it("shows a test key no webhook of a live route", async () => {
    const webhookUrl = "https://127.0.0.7:8443/secret";
    const live = await created({ slug: "live-hook", webhookUrl, environment: "live" });
    const all = await created({ slug: "all-hook", webhookUrl });
    const listed = await app.call("GET", `projects/${tenant.projectId}/routers`, { key: tenant.test });
    const urlOf = (id: string) =>
      listed.body.routers.find((router: { id: string }) => router.id === id).webhookUrl;
    assert.deepEqual([urlOf(live.id), urlOf(all.id)], [null, webhookUrl]);
    const single = await app.call("GET", `routers/${live.id}`, { key: tenant.test });
    assert.equal(single.body.router.webhookUrl, null);
    const own = await app.call("GET", `routers/${live.id}`, { key: tenant.live });
    assert.equal(own.body.router.webhookUrl, webhookUrl);
  });

  it("says which key met which route", async () => {
    await created({ slug: "only-live", environment: "live" });
    await created({ slug: "only-test", environment: "test" });
    const upload = { fileName: "a", fileSize: 1, contentType: "text/plain" };
    for (const [key, type, slug] of [
      [tenant.test, "test", "only-live"],
      [tenant.live, "live", "only-test"],
    ] as const) {
      const refused = await app.call("POST", "upload/request", { key, body: { ...upload, routeSlug: slug } });
      const { message } = expectError(refused, 401, "UNAUTHORIZED");
      const [, other] = slug.split("-");
      assert.equal(message, `Invalid or missing API key: a ${type} key on ${other} route "${slug}".`);
    }
  });

  it("creates with 201, exactly the fields of a route, and defaults", async () => {
    const answer = await create({ slug: "plain" });
    assert.equal(answer.status, 201);
    assert.deepEqual(Object.keys(answer.body), ["router"]);
    const { router } = answer.body;
    assert.deepEqual(Object.keys(router), fields);
    const { id, createdAt, updatedAt, ...rest } = router;
    assert.deepEqual(rest, {
      projectId: tenant.projectId,
      slug: "plain",
      allowedTypes: [],
      maxFileSize: null,
      webhookUrl: null,
      environment: "all",
      access: "public",
      expireAfterDays: null,
      claimWithin: null,
      keepLocation: false,
      checkContent: "off",
      stripMetadata: "off",
      scan: false,
      scanUnknown: "refuse",
      formOrigins: [],
    });
    assert.equal(createdAt, updatedAt);
    assert.deepEqual((await app.call("GET", `routers/${id}`, { key: tenant.test })).body, { router });
  });

  it("takes every field, ignores unknown ones, and sets nothing that is not the caller's", async () => {
    const wanted = {
      slug: "Every_field-9",
      allowedTypes: ["image/png", "video/*", "*/*", "application/vnd.api+json"],
      maxFileSize: 12,
      webhookUrl: "https://127.0.0.7:8443/hook?a=b",
      environment: "live",
    };
    const forged = { id: "mine", projectId: "other", createdAt: "1970-01-01T00:00:00.000Z", status: "x" };
    const router = await created({ ...wanted, ...forged });
    assert.deepEqual({ ...router, ...wanted }, router);
    assert.equal(router.projectId, tenant.projectId);
    assert.notEqual(router.id, "mine");
    assert.ok(router.createdAt > "2000");
  });

  it("refuses what a slug may not be", async () => {
    await created({ slug: "a".repeat(100) });
    for (const slug of ["", "a".repeat(101), "a b", "a/b", "ä", "a.b", "..", "a\n", 7, null, ["a"]]) {
      expectInvalid(await create({ slug }), "slug");
    }
    expectInvalid(await create({}), "slug");
    const { message } = expectError(await create({ slug: "avatars.v2" }), 400, "VALIDATION_ERROR");
    assert.equal(message, "slug must be letters, digits, _ and - only");
  });

  it("refuses what is no content type, no size, no environment", async () => {
    for (const type of ["png", "image/", "/png", "*/png", "image/png;q=1", "image/ png", "a/b/c", "", 3]) {
      expectInvalid(await create({ slug: "t", allowedTypes: [type] }), "allowedTypes.0");
    }
    const { message } = expectError(
      await create({ slug: "t", allowedTypes: ["image"] }),
      400,
      "VALIDATION_ERROR",
    );
    assert.equal(message, "allowedTypes.0 must be a MIME type such as image/png, image/* or */*");
    expectInvalid(await create({ slug: "t", allowedTypes: "image/png" }), "allowedTypes");
    expectInvalid(await create({ slug: "t", allowedTypes: Array(101).fill("a/b") }), "allowedTypes");
    for (const size of [0, -1, 1.5, "12", 2 ** 53, true]) {
      expectInvalid(await create({ slug: "t", maxFileSize: size }), "maxFileSize");
    }
    for (const environment of ["prod", "", null, "LIVE"]) {
      expectInvalid(await create({ slug: "t", environment }), "environment");
    }
  });

  it("lets no webhook point at anything that is not public HTTPS", async () => {
    const bad = [
      "http://example.com/",
      "http://93.184.216.34/",
      "http://127.0.0.1/",
      "http://localhost/",
      "https://localhost/",
      "https://a.localhost",
      "https://127.0.0.1/",
      "https://0x7f.1/",
      "https://[::1]/",
      "https://[::ffff:10.0.0.1]/",
      "https://169.254.169.254/latest",
      "https://10.1.2.3",
      "https://user:pass@203.0.113.9.example/",
      "ftp://example.com",
      "example.com",
      "https://",
      `https://example.com/${"a".repeat(2048)}`,
      "",
      5,
    ];
    const { id } = await created({ slug: "hooked", webhookUrl: "https://127.0.0.7/" });
    for (const webhookUrl of bad) {
      expectInvalid(await create({ slug: "t", webhookUrl }), "webhookUrl");
      expectInvalid(await patch(id, { webhookUrl } as object), "webhookUrl");
    }
    const { error } = (await create({ slug: "t", webhookUrl: "https://10.1.2.3" })).body;
    assert.equal(error.message, "The address 10.1.2.3 is not public.");
    assert.match(error.suggestion, /UPSTOW_WEBHOOK_ALLOW_CIDRS/);
    const plain = (await patch(id, { webhookUrl: "http://127.0.0.7:8080/hook" })).body;
    assert.equal(plain.router?.webhookUrl, "http://127.0.0.7:8080/hook", "plain HTTP to an allowed address");
    const { router } = (await patch(id, { webhookUrl: null })).body;
    assert.equal(router.webhookUrl, null);
    const onOtherPort = "https://93.184.216.34:8443/hook?of=upstow";
    assert.equal((await patch(id, { webhookUrl: onOtherPort })).body.router?.webhookUrl, onOtherPort);
  });

  it("keeps slugs unique within the project: on creation, on renaming, and under concurrency", async () => {
    await created({ slug: "taken" });
    expectError(await create({ slug: "taken" }), 409, "DUPLICATE_SLUG");
    const other = await created({ slug: "free-one" });
    expectError(await patch(other.id, { slug: "taken" }), 409, "DUPLICATE_SLUG");
    assert.equal((await patch(other.id, { slug: "free-one" })).status, 200);
    const race = await Promise.all(Array.from({ length: 20 }, () => create({ slug: "raced" })));
    assert.equal(race.filter((answer) => answer.status === 201).length, 1);
    for (const answer of race) if (answer.status !== 201) expectError(answer, 409, "DUPLICATE_SLUG");
    const routes = await Promise.all(Array.from({ length: 8 }, (_, i) => created({ slug: `renamed-${i}` })));
    const renames = await Promise.all(routes.map((route) => patch(route.id, { slug: "one-name" })));
    assert.deepEqual(renames.map((answer) => answer.status).sort(), [200, ...Array(7).fill(409)]);
    const neighbour = await app.createTenant("free");
    const same = await app.call("POST", `projects/${neighbour.projectId}/routers`, {
      key: neighbour.live,
      body: { slug: "taken" },
    });
    assert.equal(same.status, 201);
  });

  it("changes only what is named, each time with a later updatedAt, even under concurrency", async () => {
    const before = await created({ slug: "merged", maxFileSize: 5, allowedTypes: ["image/*"] });
    assert.deepEqual((await patch(before.id, {})).body.router.slug, "merged");
    await Promise.all([
      patch(before.id, { slug: "merged-2" }),
      patch(before.id, { maxFileSize: null }),
      patch(before.id, { allowedTypes: ["a/b"] }),
      patch(before.id, { environment: "live" }),
    ]);
    const after = (await app.call("GET", `routers/${before.id}`, { key: tenant.live })).body.router;
    const { updatedAt, ...rest } = after;
    const changes = { slug: "merged-2", maxFileSize: null, allowedTypes: ["a/b"], environment: "live" };
    assert.deepEqual({ ...rest, updatedAt: before.updatedAt }, { ...before, ...changes });
    assert.ok(updatedAt > before.updatedAt);
  });

  it("leaves an entry in the audit trail for each of many that are created or deleted at once", async () => {
    const slugs = Array.from({ length: 20 }, (_, i) => `at-once-${i}`).sort();
    const labels = (rows: { target_label: string | null }[]) => rows.map((row) => row.target_label).sort();
    let made: { id: string }[] = [];
    const creations = await readTrail(app, async () => {
      made = await Promise.all(slugs.map((slug) => created({ slug })));
    });
    assert.deepEqual(labels(creations), slugs);
    for (const row of creations) {
      assert.deepEqual(
        [row.action, row.project_id, row.account_id],
        ["route.created", tenant.projectId, null],
      );
      assert.equal(JSON.parse(row.changes).slug.to, row.target_label);
    }
    const deletions = await readTrail(app, () =>
      Promise.all(made.map(({ id }) => app.call("DELETE", `routers/${id}`, { key: tenant.live }))),
    );
    assert.deepEqual(labels(deletions), slugs);
    assert.ok(deletions.every(({ action }) => action === "route.deleted"));
  });

  it("lets a test key change only test routes", async () => {
    const [all, live] = [
      await created({ slug: "for-all" }),
      await created({ slug: "for-live", environment: "live" }),
    ];
    for (const environment of [undefined, "all", "live"]) {
      const body = { slug: "by-test", ...(environment === undefined ? {} : { environment }) };
      const refused = await create(body, tenant.test);
      expectError(refused, 401, "UNAUTHORIZED");
      assert.match(refused.body.error.suggestion, /environment "test".*live key/);
    }
    const own = await created({ slug: "by-test", environment: "test" }, tenant.test);
    for (const { id } of [all, live]) {
      expectError(await patch(id, { slug: "stolen" }, tenant.test), 401, "UNAUTHORIZED");
      expectError(await patch(id, { environment: "test" }, tenant.test), 401, "UNAUTHORIZED");
      expectError(await app.call("DELETE", `routers/${id}`, { key: tenant.test }), 401, "UNAUTHORIZED");
      assert.equal((await app.call("GET", `routers/${id}`, { key: tenant.test })).status, 200);
    }
    expectError(await patch(own.id, { environment: "all" }, tenant.test), 401, "UNAUTHORIZED");
    assert.equal((await patch(own.id, { maxFileSize: 1 }, tenant.test)).body.router.maxFileSize, 1);
    assert.equal((await app.call("DELETE", `routers/${own.id}`, { key: tenant.test })).status, 200);
  });

  it("lists newest first, deletes once, and frees the slug", async () => {
    const neighbour = await app.createTenant("free");
    const path = `projects/${neighbour.projectId}/routers`;
    app.clock.advance(5);
    const answer = await app.call("POST", path, { key: neighbour.live, body: { slug: "mine" } });
    const list = await app.call("GET", path, { key: neighbour.test });
    assert.deepEqual(Object.keys(list.body), ["routers"]);
    assert.deepEqual(
      list.body.routers.map((router: { slug: string }) => router.slug),
      ["mine", "default"],
    );
    assert.deepEqual(list.body.routers[0], answer.body.router);
    const remove = () => app.call("DELETE", `routers/${answer.body.router.id}`, { key: neighbour.live });
    assert.deepEqual((await remove()).body, { ok: true });
    expectError(await remove(), 404, "NOT_FOUND");
    assert.equal((await app.call("POST", path, { key: neighbour.live, body: { slug: "mine" } })).status, 201);
  });

  it("keeps other projects out: 401 where the path names the project, else as if nothing were there", async () => {
    const stranger = await app.createTenant("free");
    const { id } = await created({ slug: "private" });
    for (const projectId of [tenant.projectId, createId(Date.now())]) {
      const path = `projects/${projectId}/routers`;
      expectError(await app.call("GET", path, { key: stranger.live }), 401, "UNAUTHORIZED");
      // Who calls is settled before what is asked.
      for (const body of [{ slug: "x" }, {}, "{"]) {
        expectError(await app.call("POST", path, { key: stranger.live, body }), 401, "UNAUTHORIZED");
      }
    }
    for (const [method, body] of [["GET"], ["PATCH", { slug: "x" }], ["DELETE"]] as const) {
      const call = (route: string) => app.call(method, `routers/${route}`, { key: stranger.live, body });
      const [toForeign, toUnknown] = [await call(id), await call(createId(Date.now()))];
      expectError(toForeign, 404, "NOT_FOUND");
      assert.deepEqual(toForeign.body, toUnknown.body);
    }
  });
});
