import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ALLOWED_TYPES_MAX_BYTES, PAGE_MAX, ROUTES_PER_PROJECT_MAX } from "@upstow/contract";
import { createUpstow } from "@upstow/sdk";
import { sql } from "#kysely";
import { statement } from "../src/db/statement.ts";
import { createId } from "../src/kernel/ids.ts";
import { listAllAsJson } from "../src/projects/file-routes/find-route.ts";
import { signInAs } from "./support/console-client.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";

const insertRoute = statement((q, p: { id: string; projectId: string; slug: string; types: string }) =>
  q.insertInto("file_route").values({
    id: p.id,
    project_id: p.projectId,
    slug: p.slug,
    allowed_types: p.types,
    max_file_size_bytes: null,
    webhook_url: null,
    environment: "all",
    access: "public",
    keep_location: 0,
    check_content: "off",
    strip_metadata: "off",
    scan: 0,
    scan_unknown: "refuse",
    form_origins: "[]",
    created_at: 0,
    updated_at: 0,
  }),
);
const addToCount = statement((q, p: { projectId: string; more: number }) =>
  q
    .updateTable("project")
    .set({ route_count: sql`route_count + ${p.more}` })
    .where("id", "=", p.projectId),
);
const currentTurn = () => performance.nodeTiming.uvMetricsInfo.loopCount;

/** As long as a list of types may be. */
function longestTypes(): string[] {
  const types: string[] = [];
  for (let i = 0; JSON.stringify(types).length + 64 <= ALLOWED_TYPES_MAX_BYTES; i++)
    types.push(`application/${String(i).padStart(47, "x")}`);
  return types;
}

onAnyDatabase("the bounds of file routes", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  const create = (body: object) =>
    app.call("POST", `projects/${tenant.projectId}/routers`, { key: tenant.live, body });
  const list = (query = "") =>
    app.call("GET", `projects/${tenant.projectId}/routers${query}`, { key: tenant.live });

  /** Straight into the database, since a thousand calls would take longer than what they are for. */
  async function insertRoutes(count: number, types = "[]"): Promise<void> {
    const { projectId } = tenant;
    await app.app.deps.db.transact(async (tx) => {
      for (let i = 0; i < count; i++)
        await tx.run(insertRoute, { id: createId(app.clock.now()), projectId, slug: `many-${i}`, types });
      await tx.run(addToCount, { projectId, more: count });
    });
  }

  test("of 100 concurrent creations exactly those succeed that fit", async () => {
    tenant = await app.createTenant("pro");
    const left = 37;
    // One is the default route.
    await insertRoutes(ROUTES_PER_PROJECT_MAX - 1 - left);
    const created = await Promise.all(Array.from({ length: 100 }, (_, i) => create({ slug: `race-${i}` })));
    const succeeded = created.filter(({ status }) => status === 201);
    assert.equal(succeeded.length, left);
    for (const answer of created.filter(({ status }) => status !== 201))
      expectError(answer, 403, "TIER_LIMIT_EXCEEDED");
    assert.equal((await list()).body.routers.length, ROUTES_PER_PROJECT_MAX);

    const [first] = succeeded;
    const deleted = await app.call("DELETE", `routers/${first?.body.router.id}`, { key: tenant.live });
    assert.equal(deleted.status, 200);
    assert.equal((await create({ slug: "again" })).status, 201);
    expectError(await create({ slug: "once-more" }), 403, "TIER_LIMIT_EXCEEDED");
  });

  test("a refused creation takes no place", async () => {
    tenant = await app.createTenant("pro");
    await insertRoutes(ROUTES_PER_PROJECT_MAX - 2);
    for (let i = 0; i < 3; i++) expectError(await create({ slug: "many-1" }), 409, "DUPLICATE_SLUG");
    assert.equal((await create({ slug: "last" })).status, 201);
    expectError(await create({ slug: "too-many" }), 403, "TIER_LIMIT_EXCEEDED");
  });

  test("of concurrent deletions of one route one succeeds, and frees one place", async () => {
    tenant = await app.createTenant("pro");
    await insertRoutes(ROUTES_PER_PROJECT_MAX - 2);
    const [wanted, ...others] = (await list("?limit=4")).body.routers as { id: string }[];
    const remove = (route?: { id: string }) =>
      app.call("DELETE", `routers/${route?.id}`, { key: tenant.live });
    const deletions = await Promise.all([
      ...Array.from({ length: 20 }, () => remove(wanted)),
      ...others.map(remove),
    ]);
    assert.deepEqual(deletions.map(({ status }) => status).sort(), [
      200,
      200,
      200,
      200,
      ...Array<number>(19).fill(404),
    ]);
    const created = await Promise.all(Array.from({ length: 8 }, (_, i) => create({ slug: `freed-${i}` })));
    assert.equal(created.filter(({ status }) => status === 201).length, 5);
  });

  test("allowedTypes have at most 4 KB as JSON", async () => {
    tenant = await app.createTenant("pro");
    const fits = longestTypes();
    const { status, body } = await create({ slug: "long", allowedTypes: fits });
    assert.equal(status, 201);
    assert.deepEqual(body.router.allowedTypes, fits);
    const tooLong = [...fits, `application/${"y".repeat(100)}`];
    expectInvalid(await create({ slug: "longer", allowedTypes: tooLong }), "allowedTypes");
    const patched = await app.call("PATCH", `routers/${body.router.id}`, {
      key: tenant.live,
      body: { allowedTypes: tooLong },
    });
    expectInvalid(patched, "allowedTypes");
    assert.match(patched.body.error.message, /4096 bytes/);
    const many = await create({ slug: "many", allowedTypes: new Array(101).fill("a/b") });
    expectInvalid(many, "allowedTypes");
  });

  test("a list with a limit comes in pages, and one without comes whole", async () => {
    tenant = await app.createTenant("pro");
    await insertRoutes(250);
    const whole = (await list()).body;
    assert.deepEqual(Object.keys(whole), ["routers"]);
    assert.equal(whole.routers.length, 251);
    const paged: unknown[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await list(`?limit=100${cursor}`);
      paged.push(...body.routers);
      sizes.push(body.routers.length);
      assert.equal(body.hasMore, body.nextCursor !== null);
      cursor = body.hasMore ? `&cursor=${body.nextCursor}` : null;
    }
    assert.deepEqual(sizes, [100, 100, 51]);
    assert.deepEqual(paged, whole.routers);
    const { nextCursor } = (await list("?limit=1")).body;
    assert.equal((await list(`?cursor=${nextCursor}`)).body.routers.length, 50);
    for (const query of ["?limit=0", "?limit=101", "?limit=x"]) expectInvalid(await list(query), "limit");
    expectInvalid(await list("?cursor=nonsense"), "cursor");

    const client = createUpstow({ apiKey: tenant.live, baseUrl: app.url });
    assert.equal((await client.routers.list(tenant.projectId)).length, 251);
    const owner = await signInAs(app, tenant.accountId);
    const path = `/in/${tenant.projectId}/live/projects/${tenant.projectId}/routers`;
    assert.deepEqual((await owner("GET", path)).body, whole);
    assert.equal((await owner("GET", `${path}?limit=100`)).body.routers.length, 100);
  });

  test("lists at their largest are read in steps, one at a time for all of them", async () => {
    tenant = await app.createTenant("pro");
    const types = longestTypes();
    await insertRoutes(ROUTES_PER_PROJECT_MAX - 1, JSON.stringify(types));
    const { body } = await list();
    assert.equal(body.routers.length, ROUTES_PER_PROJECT_MAX);
    assert.deepEqual(body.routers[0].allowedTypes, types);

    const lists = 8;
    const from = currentTurn();
    const read = async () => {
      const pages: string[] = [];
      for await (const page of listAllAsJson(app.app.deps, { ...tenant, environment: "live" }))
        pages.push(page);
      // Whoever reads slowly holds a page, not all of them.
      assert.equal(pages.length, ROUTES_PER_PROJECT_MAX / PAGE_MAX + 1);
      return pages.join("");
    };
    const all = await Promise.all(Array.from({ length: lists }, read));
    const steps = lists * (ROUTES_PER_PROJECT_MAX / PAGE_MAX);
    assert.ok(currentTurn() - from >= steps - lists, `${currentTurn() - from} turns`);
    for (const text of all) assert.deepEqual(JSON.parse(text), body);
  });
});
