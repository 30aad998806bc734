import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OPEN_INVITATIONS_MAX } from "@upstow/contract";
import { insertInvitation } from "../src/dashboard/members/queries.ts";
import { createId } from "../src/kernel/ids.ts";
import { changeAccount } from "../src/projects/accounts/accounts.ts";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { password } from "./support/console-people.ts";
import { expectError } from "./support/expect-error.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";

onAnyDatabase("invited accounts", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());
  const newEmail = () => `${createId(app.clock.now())}@example.com`;
  const invite = (owner: ConsoleCall, projectId: string, email = newEmail()) =>
    owner("POST", `/projects/${projectId}/invitations`, { email, role: "viewer" });

  test("own no projects until the operator sets their tier, whichever it is", async () => {
    const tenant = await app.createTenant("pro");
    const owner = await signInAs(app, tenant.accountId);
    const email = newEmail();
    const token = (await invite(owner, tenant.projectId, email)).body.link.split("#")[1];
    const entered = await app.call("POST", "/dashboard/api/invitations/sign-up", {
      body: { token, password },
      headers: { origin: app.url },
    });
    const cookie = entered.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
    const call = (method: string, path: string, body?: unknown) =>
      app.call(method, `/dashboard/api${path}`, {
        ...(body === undefined ? {} : { body }),
        headers: { origin: app.url, cookie },
      });
    const session = (await call("GET", "/session")).body.account;
    assert.deepEqual([session.tier, session.mayOwnProjects], ["free", false]);
    const refused = await call("POST", "/projects", { name: "mine" });
    const error = expectError(refused, 403, "TIER_LIMIT_EXCEEDED");
    assert.match(error.message, /invit/);
    assert.match(error.suggestion, /operator/);

    const admin = await signInAs(app, app.owner.accountId);
    const listed = async () => (await admin("GET", `/admin/accounts?email=${email}`)).body.accounts[0];
    assert.deepEqual([(await listed()).mayOwnProjects, (await listed()).emailVerified], [false, false]);
    await changeAccount(app.app.deps, email, { tier: "free" });
    assert.deepEqual([(await listed()).mayOwnProjects, (await listed()).emailVerified], [true, false]);
    assert.equal((await call("GET", "/session")).body.account.mayOwnProjects, true);
    assert.equal((await call("POST", "/projects", { name: "mine" })).status, 201);
  });

  test("accounts that the operator made own projects at once, and the tier's number still holds", async () => {
    const tenant = await app.createTenant("free");
    const call = await signInAs(app, tenant.accountId);
    assert.equal((await call("POST", "/projects", { name: "second" })).status, 201);
    const full = expectError(await call("POST", "/projects", { name: "third" }), 403, "TIER_LIMIT_EXCEEDED");
    assert.match(full.message, /free tier allows 2 projects/);
  });

  /** As if they had been made one by one. */
  async function fill(tenant: Tenant, projectId: string, count: number): Promise<void> {
    const now = app.clock.now();
    await app.app.deps.db.transact(async (tx) => {
      for (let i = 0; i < count; i++) {
        const id = createId(now);
        await tx.run(insertInvitation, {
          id,
          token_hash: id,
          project_id: projectId,
          email: `${id}@example.com`,
          role: "viewer",
          invited_by: tenant.accountId,
          created_at: now,
          expires_at: now + 60_000,
        });
      }
    });
  }

  test("a project has so many open invitations and no more, however many are made at once", async () => {
    const tenant = await app.createTenant("pro");
    const owner = await signInAs(app, tenant.accountId);
    const path = `/projects/${tenant.projectId}/invitations`;
    await fill(tenant, tenant.projectId, OPEN_INVITATIONS_MAX.project - 2);
    const answers = await Promise.all(Array.from({ length: 6 }, () => invite(owner, tenant.projectId)));
    const statuses = answers.map((answer) => answer.status).toSorted();
    assert.deepEqual(statuses, [201, 201, 403, 403, 403, 403]);
    const full = expectError(await invite(owner, tenant.projectId), 403, "TIER_LIMIT_EXCEEDED");
    assert.match(full.message, new RegExp(`${OPEN_INVITATIONS_MAX.project} open invitations`));
    const { invitations } = (await owner("GET", path)).body;
    assert.equal(invitations.length, OPEN_INVITATIONS_MAX.project);
    assert.equal((await invite(owner, tenant.projectId, invitations[0].email)).status, 201, "replaces one");
    const [open] = (await owner("GET", path)).body.invitations;
    await owner("DELETE", `${path}/${open.id}`);
    assert.equal((await invite(owner, tenant.projectId)).status, 201);
    app.clock.advance(120_000);
    assert.equal((await invite(owner, tenant.projectId)).status, 201, "expired ones don't count");
  });

  test("an account has so many over all projects", async () => {
    const tenant = await app.createTenant("team");
    const owner = await signInAs(app, tenant.accountId);
    const projects = [tenant.projectId];
    while (projects.length * OPEN_INVITATIONS_MAX.project <= OPEN_INVITATIONS_MAX.account)
      projects.push((await owner("POST", "/projects", { name: "more" })).body.project.id);
    const last = projects.pop() ?? "";
    let left = OPEN_INVITATIONS_MAX.account - 1;
    for (const projectId of projects) {
      const count = Math.min(left, OPEN_INVITATIONS_MAX.project);
      await fill(tenant, projectId, count);
      left -= count;
    }
    const answers = await Promise.all(Array.from({ length: 3 }, () => invite(owner, last)));
    assert.deepEqual(answers.map((answer) => answer.status).toSorted(), [201, 403, 403]);
    expectError(await invite(owner, last), 403, "TIER_LIMIT_EXCEEDED");
  });
});
