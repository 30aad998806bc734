import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";

onBothDatabases("projects", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  it("creates with 201, lists without updatedAt, and renames without touching the slug", async () => {
    const key = app.owner.live;
    const created = await app.call("POST", "projects", { key, body: { name: "Überschall" } });
    assert.equal(created.status, 201);
    assert.match(created.body.project.slug, /^uberschall-[0-9a-z]{8}$/);
    const renamed = await app.call("PATCH", `projects/${created.body.project._id}`, {
      key,
      body: { name: "Other" },
    });
    assert.equal(renamed.body.project.name, "Other");
    assert.equal(renamed.body.project.slug, created.body.project.slug);
    const list = await app.call("GET", "projects", { key });
    assert.deepEqual(Object.keys(list.body.projects[0]), ["_id", "name", "slug", "userId", "createdAt"]);
  });

  it("holds the tier's limit against 100 concurrent creations", async () => {
    const tenant = await app.createTenant("free");
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        app.call("POST", "projects", { key: tenant.live, body: { name: `p${i}` } }),
      ),
    );
    assert.equal(answers.filter((answer) => answer.status === 201).length, 1);
    assert.ok(
      answers.every((answer) => answer.status === 201 || answer.body.error.code === "TIER_LIMIT_EXCEEDED"),
    );
    const list = await app.call("GET", "projects", { key: tenant.live });
    assert.equal(list.body.projects.length, 2);
  });
});
