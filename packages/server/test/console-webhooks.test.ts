import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addDelivery } from "../../dashboard/test/support/add-delivery.ts";
import { signInAs } from "./support/console-client.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";

type Row = Record<"fileName" | "statusCode" | "error" | "status", unknown>;
const broken = { status_code: 500, error: "server_error" as const, response: "no" };
const fine = { status_code: 204, error: null, response: "" };

onBothDatabases("deliveries in the dashboard", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let call: Awaited<ReturnType<typeof signInAs>>;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    call = await signInAs(app, tenant.accountId);
    await addDelivery(app, tenant, { fileName: 'Cat "1".jpg', attempts: [fine, broken] });
    await addDelivery(app, tenant, { fileName: "dog.jpg", state: "delivered", attempts: [fine] });
    await addDelivery(app, tenant, { fileName: "new.jpg", state: "delivered", url: "https://example.com/b" });
  });
  after(() => app.close());

  const get = async (path: string) =>
    (await call("GET", `/in/${tenant.projectId}/live/webhooks/${path}`)).body;
  const names = async (query: string) =>
    (await get(`rows?${query}`)).deliveries.map(({ fileName }: { fileName: string }) => fileName);

  test("each names its file and what its last attempt answered", async () => {
    const { deliveries, hasMore } = await get("rows");
    assert.deepEqual(
      deliveries.map((row: Row) => [row.fileName, row.statusCode, row.error, row.status]),
      [
        ["new.jpg", null, null, "delivered"],
        ["dog.jpg", 204, null, "delivered"],
        ['Cat "1".jpg', 500, "server_error", "dead"],
      ],
    );
    assert.equal(hasMore, false);
    assert.match(deliveries[0].fileKey, /new\.jpg$/);
  });

  test("they are found by their file in any case, by status and by URL, page by page", async () => {
    assert.deepEqual(await names(`text=${encodeURIComponent('cAT "')}`), ['Cat "1".jpg']);
    assert.deepEqual(await names("status=delivered"), ["new.jpg", "dog.jpg"]);
    assert.deepEqual(await names(`url=${encodeURIComponent("https://example.com/b")}`), ["new.jpg"]);
    assert.deepEqual(await names("routeSlug=other"), []);
    const first = await get("rows?limit=2");
    assert.equal(first.hasMore, true);
    assert.deepEqual(await names(`limit=2&cursor=${first.nextCursor}`), ['Cat "1".jpg']);
  });

  test("each URL has its success by day and its average time", async () => {
    const { endpoints, days, isPartial } = await get("endpoints");
    assert.deepEqual([days, isPartial], [7, false]);
    const [other, hook] = endpoints;
    assert.deepEqual([hook.url, hook.averageMs, other.averageMs], ["https://example.com/hook", 12, null]);
    const { day, ...counts } = hook.days[0];
    assert.match(day, /^\d{4}-\d\d-\d\d$/);
    assert.deepEqual(counts, { delivered: 1, failed: 1, pending: 0 });
  });

  test("another project's deliveries are not among them", async () => {
    const stranger = await app.createTenant("pro");
    const theirs = await signInAs(app, stranger.accountId);
    const { body } = await theirs("GET", `/in/${stranger.projectId}/live/webhooks/rows`);
    assert.deepEqual(body.deliveries, []);
    const { status } = await theirs("GET", `/in/${tenant.projectId}/live/webhooks/endpoints`);
    assert.equal(status, 404);
  });
});
