import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { putMember } from "../src/dashboard/members/queries.ts";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { insertManyFiles } from "./support/many-files.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

onAnyDatabase("the dashboard's API", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let owner: ConsoleCall;
  let inLive: string;

  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    owner = await signInAs(app, tenant.accountId);
    inLive = `/in/${tenant.projectId}/live`;
  });
  after(() => app.close());

  test("a developer changes what is in the project, not the project", async () => {
    const { accountId } = await app.createTenant("free");
    const { projectId } = tenant;
    await app.app.deps.db.run(putMember, { projectId, accountId, role: "developer", now: 0 });
    const developer = await signInAs(app, accountId);
    const keys = `${inLive}/projects/${tenant.projectId}/keys`;
    assert.equal((await developer("POST", keys, { name: "ci" })).status, 201);
    assert.equal((await developer("PATCH", `/projects/${tenant.projectId}`, { name: "mine" })).status, 403);
    assert.equal((await developer("DELETE", `/projects/${tenant.projectId}`)).status, 403);
    const { projects } = (await developer("GET", "/projects")).body;
    const joined = projects.find((project: { id: string }) => project.id === tenant.projectId);
    assert.equal(joined.role, "developer");
    assert.equal(projects.length, 2);
  });

  test("another project's ids are not reached through one's own", async () => {
    const other = await app.createTenant("pro");
    const stranger = await signInAs(app, other.accountId);
    const { keys } = (await owner("GET", `${inLive}/projects/${tenant.projectId}/keys`)).body;
    const { routers } = (await owner("GET", `${inLive}/projects/${tenant.projectId}/routers`)).body;
    const own = `/in/${other.projectId}/live`;
    assert.equal((await stranger("DELETE", `${own}/keys/${keys[0].id}`)).status, 404);
    assert.equal((await stranger("PATCH", `${own}/routers/${routers[0].id}`, { slug: "x" })).status, 404);
    assert.equal((await stranger("GET", `${own}/projects/${tenant.projectId}/keys`)).status, 404);
    assert.equal((await stranger("GET", `/in/${other.projectId}/prod/files`)).status, 404);
  });

  test("a key is made, works, is shown once and is revoked", async () => {
    const keys = `${inLive}/projects/${tenant.projectId}/keys`;
    const created = await owner("POST", keys, { name: "web" });
    assert.equal(created.status, 201);
    const { secret, key } = created.body;
    assert.equal((await app.call("GET", "files", { key: secret })).status, 200);
    assert.ok(!JSON.stringify((await owner("GET", keys)).body).includes(secret));
    assert.equal((await owner("DELETE", `${inLive}/keys/${key.id}`)).status, 200);
    assert.equal((await app.call("GET", "files", { key: secret })).status, 401);
    assert.ok(!app.logLines.join("").includes(secret));
  });

  test("what is not as it should be is refused by name, and answers hold no hashes", async () => {
    for (const name of ["", 5]) {
      const refused = await owner("POST", "/projects", { name });
      assert.equal(refused.status, 400);
      assert.equal(refused.body.error.details[0].path, "name");
    }
    assert.equal((await owner("GET", `${inLive}/search?limit=1000`)).status, 400);
    assert.equal((await owner("GET", `${inLive}/search?status=GONE`)).status, 400);
    const { keys } = (await owner("GET", `${inLive}/projects/${tenant.projectId}/keys`)).body;
    const fields = ["createdAt", "id", "lastUsedAt", "name", "prefix", "projectId", "type"];
    for (const key of keys) assert.deepEqual(Object.keys(key).sort(), fields);
  });

  test("projects are made, renamed and deleted by their owner", async () => {
    const { project } = (await owner("POST", "/projects", { name: "second" })).body;
    const renamed = await owner("PATCH", `/projects/${project.id}`, { name: "better" });
    assert.equal(renamed.body.project.name, "better");
    assert.equal((await owner("DELETE", `/projects/${project.id}`)).status, 200);
    assert.equal((await owner("GET", `/in/${project.id}/live/files`)).status, 404);
  });

  test("files are found by name, type, status and route, page by page", async () => {
    const names = ["Report 100%.pdf", "report_b.pdf", "photo.png", "notes.txt"];
    for (const name of names) await uploadFile(app, "hello", { key: tenant.live, name });
    await uploadFile(app, "hello", { key: tenant.test, name: "report of tests.pdf" });
    const find = async (query: string) => {
      const { body } = await owner("GET", `${inLive}/search?${query}`);
      return body.files.map((file: { name: string }) => file.name);
    };
    assert.deepEqual(await find("name=REPORT"), ["report_b.pdf", "Report 100%.pdf"]);
    assert.deepEqual(await find("name=100%25"), ["Report 100%.pdf"]);
    assert.deepEqual(await find("name=t_b"), ["report_b.pdf"]);
    assert.deepEqual(await find("type=text/"), [...names].reverse());
    assert.deepEqual(await find("status=FAILED"), []);
    assert.deepEqual(await find("routeSlug=default&name=photo"), ["photo.png"]);
    const first = (await owner("GET", `${inLive}/search?limit=3`)).body;
    assert.equal(first.hasMore, true);
    assert.deepEqual(await find(`limit=3&cursor=${first.nextCursor}`), ["Report 100%.pdf"]);
    const [file] = first.files;
    assert.equal((await owner("DELETE", `${inLive}/files/${encodeURIComponent(file.key)}`)).status, 200);
    assert.deepEqual(await find("name=notes"), []);
  });

  test("the described API does not name the dashboard's", async () => {
    const { body } = await app.call("GET", "openapi.json");
    assert.deepEqual(
      Object.keys(body.paths).filter((path) => path.includes("dashboard")),
      [],
    );
  });
});

test("a search goes on through any number of files, in stretches that a cursor joins", async () => {
  const app = await startApp();
  try {
    const { accountId, projectId } = await app.createTenant("pro");
    const count = 220_000;
    const isWanted = (index: number) => index === 5 || index === 109_999 || index === count - 1;
    const describe = (index: number) => ({ name: isWanted(index) ? `needle ${index}` : "hay" });
    await insertManyFiles(app, { projectId, count, describe });
    const call = await signInAs(app, accountId);
    const found: string[] = [];
    let cursor = "";
    let calls = 0;
    do {
      const { body } = await call("GET", `/in/${projectId}/live/search?name=needle&limit=2${cursor}`);
      found.push(...body.files.map((file: { name: string }) => file.name));
      cursor = body.hasMore ? `&cursor=${body.nextCursor}` : "";
      calls++;
    } while (cursor !== "");
    assert.deepEqual(found, ["needle 219999", "needle 109999", "needle 5"]);
    assert.equal(calls, 2);
  } finally {
    await app.close();
  }
});
