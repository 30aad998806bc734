import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { putMember } from "../src/dashboard/members/queries.ts";
import type { ProjectRole } from "../src/db/schema.ts";
import { createSessionToken } from "./support/console-client.ts";
import { expectError } from "./support/expect-error.ts";
import { listRoutes } from "./support/list-routes.ts";
import { startApp, type Tenant, type TestApp } from "./support/start-app.ts";

/** Who may make a call; a project's roles hold what those before them hold, and none stands in for who pays. */
type Needed = "anyone" | "signed in" | ProjectRole | "payer" | "installation";

const inProject = "/in/:projectId/:environment";
/** Every call there is. A new one belongs in this table, or the first test fails. */
const needed: Record<string, Needed> = {
  "GET /claim": "anyone",
  "POST /claim": "anyone",
  "POST /claim/look": "anyone",
  "POST /sign-in": "anyone",
  "POST /sign-in/code": "anyone",
  "POST /sign-in/passkey": "anyone",
  "POST /sign-in/passkey/options": "anyone",
  "POST /invitations/look": "anyone",
  "POST /invitations/sign-up": "anyone",
  "GET /session": "signed in",
  "POST /sign-out": "signed in",
  "GET /sessions": "signed in",
  "DELETE /sessions/:id": "signed in",
  "PUT /account": "signed in",
  "GET /account/factors": "signed in",
  "POST /account/codes": "signed in",
  "DELETE /account/codes": "signed in",
  "POST /account/codes/confirm": "signed in",
  "POST /account/recovery-codes": "signed in",
  "POST /account/passkeys": "signed in",
  "POST /account/passkeys/options": "signed in",
  "DELETE /account/passkeys/:id": "signed in",
  "POST /invitations/accept": "signed in",
  "GET /projects": "signed in",
  "POST /projects": "signed in",
  "GET /projects/deleted": "signed in",
  "POST /projects/:id/purge": "payer",
  "GET /admin/status": "installation",
  "GET /admin/accounts": "installation",
  "POST /admin/accounts": "installation",
  "PATCH /admin/accounts/:id": "installation",
  "GET /account/audit": "signed in",
  "GET /account/audit/export": "signed in",
  "GET /projects/:id/audit": "owner",
  "GET /projects/:id/audit/export": "owner",
  "GET /admin/audit": "installation",
  "GET /admin/audit/export": "installation",
  "GET /projects/:id/members": "viewer",
  "PATCH /projects/:id/members/:accountId": "owner",
  "DELETE /projects/:id/members/:accountId": "owner",
  "GET /projects/:id/invitations": "owner",
  "POST /projects/:id/invitations": "owner",
  "DELETE /projects/:id/invitations/:invitationId": "owner",
  "GET /projects/:id/storage": "owner",
  "PUT /projects/:id/storage": "owner",
  "DELETE /projects/:id/storage": "owner",
  "POST /projects/:id/storage/probe": "owner",
  "PUT /projects/:id/cdn-domain": "owner",
  "DELETE /projects/:id/cdn-domain": "owner",
  "POST /projects/:id/cdn-domain/check": "owner",
  "PATCH /projects/:id": "owner",
  "DELETE /projects/:id": "owner",
  [`GET ${inProject}/projects/:id/keys`]: "viewer",
  [`POST ${inProject}/projects/:id/keys`]: "developer",
  [`DELETE ${inProject}/keys/:id`]: "developer",
  [`GET ${inProject}/projects/:id/routers`]: "viewer",
  [`POST ${inProject}/projects/:id/routers`]: "developer",
  [`GET ${inProject}/routers/:id`]: "viewer",
  [`PATCH ${inProject}/routers/:id`]: "developer",
  [`DELETE ${inProject}/routers/:id`]: "developer",
  [`POST ${inProject}/routers/:id/test`]: "developer",
  [`GET ${inProject}/files`]: "viewer",
  [`GET ${inProject}/files*`]: "viewer",
  [`GET ${inProject}/files/archive`]: "viewer",
  [`PATCH ${inProject}/files*`]: "developer",
  [`DELETE ${inProject}/files*`]: "developer",
  [`DELETE ${inProject}/files`]: "developer",
  [`POST ${inProject}/files/delete`]: "developer",
  [`POST ${inProject}/files/change`]: "developer",
  [`POST ${inProject}/files/claim`]: "developer",
  [`POST ${inProject}/files/restore`]: "developer",
  [`GET ${inProject}/files/links`]: "viewer",
  [`POST ${inProject}/files/links`]: "developer",
  [`POST ${inProject}/files/links/revoke`]: "developer",
  [`POST ${inProject}/files/grants`]: "developer",
  [`POST ${inProject}/upload/grants`]: "developer",
  [`POST ${inProject}/upload/import`]: "developer",
  [`GET ${inProject}/files/read-keys`]: "developer",
  [`POST ${inProject}/files/read-keys/rotate`]: "developer",
  [`GET ${inProject}/trash`]: "viewer",
  [`POST ${inProject}/trash/delete`]: "developer",
  [`GET ${inProject}/search`]: "viewer",
  [`GET ${inProject}/search/count`]: "viewer",
  [`GET ${inProject}/folders`]: "viewer",
  [`GET ${inProject}/search/file`]: "viewer",
  [`POST ${inProject}/search/delete`]: "developer",
  [`POST ${inProject}/search/change`]: "developer",
  [`GET ${inProject}/search/archive`]: "viewer",
  [`GET ${inProject}/delivery-settings`]: "viewer",
  [`GET ${inProject}/variants`]: "viewer",
  [`GET ${inProject}/studio`]: "viewer",
  [`POST ${inProject}/transforms/image`]: "developer",
  [`POST ${inProject}/upload/request`]: "developer",
  [`POST ${inProject}/upload/complete`]: "developer",
  [`POST ${inProject}/upload/batch/request`]: "developer",
  [`POST ${inProject}/upload/batch/complete`]: "developer",
  [`POST ${inProject}/upload/multipart/init`]: "developer",
  [`POST ${inProject}/upload/multipart/sign`]: "developer",
  [`POST ${inProject}/upload/multipart/complete`]: "developer",
  [`POST ${inProject}/upload/multipart/abort`]: "developer",
  [`GET ${inProject}/upload/multipart/:fileId`]: "viewer",
  [`GET ${inProject}/logs`]: "viewer",
  [`GET ${inProject}/logs/stream`]: "viewer",
  [`GET ${inProject}/logs/search`]: "viewer",
  [`GET ${inProject}/usage`]: "viewer",
  [`GET ${inProject}/usage/history`]: "viewer",
  [`GET ${inProject}/usage/days`]: "viewer",
  [`GET ${inProject}/rate-limits`]: "viewer",
  [`GET ${inProject}/webhooks/rows`]: "viewer",
  [`GET ${inProject}/webhooks/endpoints`]: "viewer",
  [`GET ${inProject}/webhooks/deliveries`]: "viewer",
  [`GET ${inProject}/webhooks/deliveries/:id`]: "viewer",
  [`POST ${inProject}/webhooks/deliveries/:id/redeliver`]: "developer",
  [`POST ${inProject}/webhooks/deliveries/:id/sign`]: "developer",
  [`POST ${inProject}/webhooks/deliveries/redeliver`]: "developer",
  [`GET ${inProject}/webhooks/signing-keys`]: "developer",
  [`POST ${inProject}/webhooks/signing-keys/rotate`]: "developer",
};

/** Where the role is looked at after the body, the body has to be right. */
const bodies: Record<string, object> = {
  "PATCH /projects/:id/members/:accountId": { role: "owner" },
  "POST /projects/:id/invitations": { email: "friend@example.com", role: "owner" },
  "PATCH /projects/:id": { name: "taken" },
  // Refused by the address guard, after the role was looked at.
  "PUT /projects/:id/storage": {
    endpoint: "https://10.0.0.1",
    bucket: "bucket",
    accessKeyId: "id",
    secretAccessKey: "secret",
  },
  "PUT /projects/:id/cdn-domain": { domain: "10.0.0.1" },
};
const strangersId = "0".repeat(26);

const ranks: Record<ProjectRole, number> = { viewer: 0, developer: 1, owner: 2 };

let app: TestApp;
before(async () => {
  app = await startApp();
});
after(() => app.close());

function callOf(route: string, project: Tenant): { method: string; path: string } {
  const [method = "", pattern = ""] = route.split(" ");
  const path = pattern
    .replace("/projects/:id", `/projects/${project.projectId}`)
    .replace(":projectId", project.projectId)
    .replace(":environment", "live")
    .replace("files*", "files/some/key")
    .replaceAll(/:\w+/g, strangersId);
  return { method, path };
}

/** A session of its own for each call: one of them signs out. An API key is no session. Streams are cut off. */
async function attempt(route: string, project: Tenant, accountId: string | null) {
  const { method, path } = callOf(route, project);
  const caller =
    accountId === null
      ? { authorization: `Bearer ${project.live}` }
      : { cookie: `upstow_session=${await createSessionToken(app, accountId)}` };
  const body = bodies[route] ?? (method === "POST" || method === "PUT" ? {} : undefined);
  const stop = new AbortController();
  const response = await fetch(`${app.url}/dashboard/api${path}`, {
    method,
    headers: { origin: app.url, ...caller, ...(body && { "content-type": "application/json" }) },
    signal: stop.signal,
    ...(body && { body: JSON.stringify(body) }),
  });
  const error = response.ok ? null : ((await response.json()) as { error: { message: string } }).error;
  stop.abort();
  return { status: response.status, message: error?.message ?? "" };
}

const isRefusal = ({ message }: { message: string }) =>
  /^(You are not signed in|Project not found|A \w+ of this project can't|Only the installation's owner)/.test(
    message,
  );
const routes = Object.keys(needed)
  // Last, because it ends the project.
  .sort((a, b) => Number(a === "DELETE /projects/:id") - Number(b === "DELETE /projects/:id"));

test("the table names every call that there is", () => {
  assert.deepEqual(Object.keys(needed).sort(), listRoutes(app, "/dashboard/api"));
});

test("who is not signed in reaches nothing but the ways in", async () => {
  const project = await app.createTenant("pro");
  for (const route of routes) {
    const answer = await attempt(route, project, null);
    if (needed[route] === "anyone") assert.notEqual(answer.message, "You are not signed in.", route);
    else assert.deepEqual([answer.status, answer.message], [401, "You are not signed in."], route);
  }
});

test("strangers find no project, even those who own the installation", async () => {
  const project = await app.createTenant("pro");
  const stranger = await app.createTenant("pro");
  for (const accountId of [stranger.accountId, app.owner.accountId]) {
    const ofProjects = routes.filter((name) => needed[name] === "payer" || (needed[name] ?? "") in ranks);
    for (const route of ofProjects) {
      const answer = await attempt(route, project, accountId);
      assert.deepEqual([answer.status, answer.message], [404, "Project not found."], route);
    }
  }
});

for (const role of ["viewer", "developer", "owner"] as const) {
  test(`as a ${role} every call is open or closed as the table says`, async () => {
    const project = await app.createTenant("pro");
    const { accountId } = await app.createTenant("free");
    const member = { projectId: project.projectId, accountId, role, now: 0 };
    await app.app.deps.db.run(putMember, member);
    for (const route of routes) {
      const need = needed[route] ?? "installation";
      if (need === "anyone" || need === "signed in") continue;
      const answer = await attempt(route, project, accountId);
      const mayCall = need !== "installation" && need !== "payer" && ranks[role] >= ranks[need];
      assert.equal(isRefusal(answer), !mayCall, `${route}: ${answer.status} ${answer.message}`);
      if (!mayCall) assert.equal(answer.status, need === "payer" ? 404 : 403, route);
    }
  });
}

test("what is for the account that pays is open to it", async () => {
  const project = await app.createTenant("pro");
  for (const route of routes.filter((name) => needed[name] === "payer")) {
    assert.equal(isRefusal(await attempt(route, project, project.accountId)), false, route);
  }
});

test("the installation's pages are for its owner alone", async () => {
  const project = await app.createTenant("enterprise");
  for (const route of routes.filter((name) => needed[name] === "installation")) {
    assert.equal((await attempt(route, project, project.accountId)).status, 403, route);
    assert.equal(isRefusal(await attempt(route, project, app.owner.accountId)), false, route);
  }
});

test("no call is taken from another site's page, whoever it comes as", async () => {
  const project = await app.createTenant("pro");
  const cookie = `upstow_session=${await createSessionToken(app, project.accountId)}`;
  const headers = { cookie, origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  for (const route of routes) {
    const { method, path } = callOf(route, project);
    const refused = await app.call(method, `/dashboard/api${path}`, { headers });
    const message = refused.body.error?.message;
    assert.deepEqual(
      [refused.status, message],
      [403, "The dashboard accepts requests only from its own pages."],
      route,
    );
  }
});

test("nobody ends another's session", async () => {
  const [one, other] = [await app.createTenant("free"), await app.createTenant("free")];
  await createSessionToken(app, other.accountId);
  const cookie = `upstow_session=${await createSessionToken(app, one.accountId)}`;
  const otherCookie = `upstow_session=${await createSessionToken(app, other.accountId)}`;
  const headers = { origin: app.url, cookie };
  const theirs = await app.call("GET", "/dashboard/api/sessions", {
    headers: { ...headers, cookie: otherCookie },
  });
  for (const session of theirs.body.sessions) {
    const refused = await app.call("DELETE", `/dashboard/api/sessions/${session.id}`, { headers });
    assert.equal(refused.status, 404);
  }
  const lasting = await app.call("GET", "/dashboard/api/session", {
    headers: { ...headers, cookie: otherCookie },
  });
  assert.equal(lasting.status, 200);
});

test("a key that a member makes acts on the account that owns the project", async () => {
  const project = await app.createTenant("pro");
  const { body } = await app.call("POST", "projects", { key: project.live, body: { name: "other" } });
  const member = await app.createTenant("free");
  await app.app.deps.db.run(putMember, {
    projectId: project.projectId,
    accountId: member.accountId,
    role: "developer",
    now: 0,
  });
  const cookie = `upstow_session=${await createSessionToken(app, member.accountId)}`;
  const path = `/dashboard/api/in/${project.projectId}/live/projects/${project.projectId}/keys`;
  const made = await app.call("POST", path, { body: {}, headers: { origin: app.url, cookie } });
  const key = made.body.secret;
  const listed = await app.call("GET", "projects", { key });
  assert.deepEqual(
    listed.body.projects.map((found: { _id: string }) => found._id),
    [body.project._id, project.projectId],
  );
  const created = await app.call("POST", "projects", { key, body: { name: "new" } });
  assert.deepEqual([created.status, created.body.project.userId], [201, project.accountId]);
  const own = `projects/${project.projectId}`;
  const renamed = await app.call("PATCH", own, { key, body: { name: "mine" } });
  assert.deepEqual([renamed.status, renamed.body.project.name], [200, "mine"]);
  assert.equal((await app.call("DELETE", `projects/${body.project._id}`, { key })).status, 200);
  expectError(await app.call("GET", `projects/${member.projectId}`, { key }), 404, "NOT_FOUND");
});
