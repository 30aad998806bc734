import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import type { AuditAction, AuthorKind } from "@upstow/contract";
import { Secret, TOTP } from "otpauth";
import { keepPasskey } from "../src/dashboard/factors/passkeys.ts";
import { putMember } from "../src/dashboard/members/queries.ts";
import { serviceAuthor } from "../src/kernel/actor.ts";
import { createId } from "../src/kernel/ids.ts";
import { createLoginLink } from "../src/projects/accounts/accounts.ts";
import { describeChanges, record } from "../src/projects/audit/record.ts";
import { expectRecorded, listTrail, readTrail } from "./support/audit-trail.ts";
import { createSessionToken } from "./support/console-client.ts";
import { createPerson, password } from "./support/console-people.ts";
import { listRoutes } from "./support/list-routes.ts";
import { type Answer, onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

const inProject = "/in/:projectId/:environment";
const uploads = ["request", "complete", "batch/request", "batch/complete"].concat(
  ["init", "sign", "complete", "abort"].map((step) => `multipart/${step}`),
);

/** Calls that leave nothing in the trail, or are made by another test, each with the reason. */
const leftOut: Record<string, string> = {
  ...Object.fromEntries(
    uploads.flatMap((step) => [
      [`POST /api/v1/upload/${step}`, "the project's log has every upload"],
      [`POST /dashboard/api${inProject}/upload/${step}`, "the project's log has every upload"],
    ]),
  ),
  "POST /api/v1/upload/import": "the project's log has every upload",
  [`POST /dashboard/api${inProject}/upload/import`]: "the project's log has every upload",
  "PATCH /api/v1/files*": "what applications do with their keys is in the project's log",
  "DELETE /api/v1/files*": "as above",
  "DELETE /api/v1/files": "as above",
  "POST /api/v1/files/claim": "as above",
  "POST /api/v1/files/restore": "as above",
  "POST /api/v1/files/links": "as above",
  "POST /api/v1/files/grants": "as above",
  "POST /api/v1/upload/grants": "as above",
  "POST /api/v1/transforms/image": "as above",
  [`POST /dashboard/api${inProject}/transforms/image`]: "renders, and changes nothing",
  [`POST /dashboard/api${inProject}/webhooks/deliveries/:id/sign`]: "shows a delivery, and changes nothing",
  "POST /api/v1/mcp": "its tools only read",
  "OPTIONS /api/v1/mcp": "changes nothing",
  "POST /dashboard/api/claim/look": "changes nothing",
  "POST /dashboard/api/invitations/look": "changes nothing",
  "POST /dashboard/api/account/codes": "takes effect once confirmed",
  "POST /dashboard/api/account/passkeys/options": "takes effect once the passkey is added",
  "POST /dashboard/api/sign-in/passkey/options": "changes nothing",
  "POST /dashboard/api/projects/:id/storage/probe": "changes nothing",
  "POST /dashboard/api/projects/:id/cdn-domain/check": "changes nothing",
  "POST /dashboard/api/sign-in/passkey": "needs an authenticator: people/sign-in.test.ts of the dashboard",
  "POST /dashboard/api/account/passkeys": "as above",
  "PUT /dashboard/api/projects/:id/storage": "needs a bucket: customer-storage.test.ts",
  "DELETE /dashboard/api/projects/:id/storage": "as above",
  "PUT /dashboard/api/projects/:id/cdn-domain": "needs a domain: console-cdn-domain.test.ts",
  "DELETE /dashboard/api/projects/:id/cdn-domain": "as above",
};

onBothDatabases("the audit trail", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  before(async () => {
    app = await startApp({ database, env: { UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" } });
    tenant = await app.createTenant("enterprise");
  });
  after(() => app.close());

  const userAgent = "auditor/1.0";
  /** Secrets that were sent or shown on the way. */
  const secrets = new Set<string>();
  const called = new Set<string>();

  async function send(method: string, path: string, body: unknown, headers: Record<string, string>) {
    const answer = await app.call(method, path, {
      ...(body === undefined ? {} : { body }),
      headers: { "user-agent": userAgent, ...headers },
    });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** One mutating call, given by its route, and what it must leave. */
  async function step(
    route: string,
    expected: AuditAction,
    { by, headers, ids = {}, body }: StepOptions,
  ): Promise<Answer["body"]> {
    called.add(route);
    const [method = "", pattern = ""] = route.split(" ");
    const path = Object.entries({ projectId: tenant.projectId, environment: "live", ...ids }).reduce(
      (text, [name, value]) => text.replace(name === "*" ? "*" : `:${name}`, value),
      pattern.replace("/files*", "/files/*"),
    );
    let answer: Answer | undefined;
    const row = await expectRecorded(app, { action: expected, by }, async () => {
      answer = await send(method, path, body, headers);
    });
    assert.deepEqual([row.address, row.user_agent], ["127.0.0.1", userAgent], route);
    return answer?.body;
  }

  interface StepOptions {
    by: AuthorKind;
    headers: Record<string, string>;
    ids?: Record<string, string>;
    body?: unknown;
  }

  const cookieFor = async (accountId: string) => ({
    origin: app.url,
    cookie: `upstow_session=${await createSessionToken(app, accountId)}`,
  });

  async function manage(prefix: string, by: AuthorKind, headers: Record<string, string>) {
    const own = { by, headers };
    const id = tenant.projectId;
    const slug = `${by}-route`;
    const key = await step(`POST ${prefix}/projects/:id/keys`, "key.created", {
      ...own,
      ids: { id },
      body: {},
    });
    secrets.add(key.secret);
    await step(`DELETE ${prefix}/keys/:id`, "key.revoked", { ...own, ids: { id: key.key.id } });
    const { router } = await step(`POST ${prefix}/projects/:id/routers`, "route.created", {
      ...own,
      ids: { id },
      body: { slug, webhookUrl: "https://127.0.0.1:9/hook?token=secret-of-the-webhook" },
    });
    secrets.add("secret-of-the-webhook");
    const ofRoute = { ...own, ids: { id: router.id } };
    await step(`PATCH ${prefix}/routers/:id`, "route.updated", { ...ofRoute, body: { access: "private" } });
    await step(`POST ${prefix}/routers/:id/test`, "webhook.tested", ofRoute);
    const { deliveries } = (await app.call("GET", "webhooks/deliveries", { key: tenant.live })).body;
    const delivery = deliveries[0].id;
    await step(`POST ${prefix}/webhooks/deliveries/:id/redeliver`, "deliveries.resent", {
      ...own,
      ids: { id: delivery },
      body: {},
    });
    await step(`POST ${prefix}/webhooks/deliveries/redeliver`, "deliveries.resent", {
      ...own,
      body: { ids: [delivery] },
    });
    const keys = await step(`POST ${prefix}/webhooks/signing-keys/rotate`, "signing-keys.rotated", {
      ...own,
      body: { force: true },
    });
    const readKeys = await step(`POST ${prefix}/files/read-keys/rotate`, "read-keys.rotated", {
      ...own,
      body: {},
    });
    for (const secret of [keys.current, keys.next, readKeys.current, readKeys.next]) secrets.add(secret);
    await step(`POST ${prefix}/files/links/revoke`, "links.revoked", { ...own, body: { audience: "team" } });
    await step(`DELETE ${prefix}/routers/:id`, "route.deleted", ofRoute);
  }

  it("has what keys change about a project", async () => {
    const own = { by: "key", headers: { authorization: `Bearer ${tenant.live}` } } as const;
    await manage("/api/v1", "key", own.headers);
    const made = await step("POST /api/v1/projects", "project.created", { ...own, body: { name: "second" } });
    const ids = { id: made.project._id };
    await step("PATCH /api/v1/projects/:id", "project.updated", { ...own, ids, body: { name: "other" } });
    await step("DELETE /api/v1/projects/:id", "project.deleted", { ...own, ids });
  });

  it("has what people change in the dashboard", async () => {
    const own = { by: "user", headers: await cookieFor(tenant.accountId) } as const;
    const prefix = `/dashboard/api${inProject}`;
    await manage(prefix, "user", own.headers);
    const upload = (name: string) => uploadFile(app, "hello", { key: tenant.live, name });
    const file = await upload("contract.txt");
    await step(`PATCH ${prefix}/files*`, "file.updated", {
      ...own,
      ids: { "*": file.id },
      body: { name: "renamed-contract.txt", access: "private", metadata: { customer: "hidden-metadata" } },
    });
    const before = createId(app.clock.now() + 1000);
    const change = { access: "public" };
    await step(`POST ${prefix}/files/change`, "file.updated", { ...own, body: { ids: [file.id], change } });
    await step(`POST ${prefix}/search/change`, "file.updated", { ...own, body: { before, change } });
    await step(`POST ${prefix}/files/links`, "links.created", { ...own, body: { keys: [file.id] } });
    await step(`POST ${prefix}/files/grants`, "grant.created", { ...own, body: { routeSlug: "default" } });
    await step(`POST ${prefix}/upload/grants`, "grant.created", { ...own, body: { routeSlug: "default" } });
    await step(`POST ${prefix}/files/claim`, "file.updated", { ...own, body: { keys: [file.id] } });
    const trash = (trashDays: number) =>
      app.call("PATCH", `projects/${tenant.projectId}`, { key: tenant.live, body: { trashDays } });
    await trash(1);
    await step(`DELETE ${prefix}/files*`, "files.deleted", { ...own, ids: { "*": file.id } });
    await step(`POST ${prefix}/files/restore`, "file.updated", { ...own, body: { keys: [file.id] } });
    const { id, key } = await upload("e.txt");
    await app.call("DELETE", `files/${key}`, { key: tenant.live });
    await step(`POST ${prefix}/trash/delete`, "files.deleted", { ...own, body: { ids: [id] } });
    await trash(0);
    const bulk = { ...own, body: { keys: [(await upload("b.txt")).key] } };
    await step(`DELETE ${prefix}/files`, "files.deleted", bulk);
    const chosen = { ...own, body: { ids: [(await upload("c.txt")).id] } };
    await step(`POST ${prefix}/files/delete`, "files.deleted", chosen);
    await upload("d.txt");
    await step(`POST ${prefix}/search/delete`, "files.deleted", { ...own, body: { before } });
    for (const text of ["contract.txt", "hidden-metadata"]) secrets.add(text);
  });

  it("has what people change about projects, members and invitations", async () => {
    const own = { by: "user", headers: await cookieFor(tenant.accountId) } as const;
    const api = "/dashboard/api";
    const { project } = await step(`POST ${api}/projects`, "project.created", {
      ...own,
      body: { name: "a" },
    });
    const ids = { id: project.id };
    await step(`PATCH ${api}/projects/:id`, "project.updated", { ...own, ids, body: { name: "b" } });
    const invited = await createPerson(app);
    const wanted = { ...own, ids, body: { email: invited.email, role: "viewer" } };
    const { link } = await step(`POST ${api}/projects/:id/invitations`, "invitation.created", wanted);
    const token = link.split("#")[1];
    secrets.add(token);
    const theirs = { by: "user", headers: await cookieFor(invited.accountId) } as const;
    await step(`POST ${api}/invitations/accept`, "member.joined", { ...theirs, body: { token } });
    const member = { ids: { ...ids, accountId: invited.accountId } };
    await step(`PATCH ${api}/projects/:id/members/:accountId`, "member.updated", {
      ...own,
      ...member,
      body: { role: "developer" },
    });
    await step(`DELETE ${api}/projects/:id/members/:accountId`, "member.removed", { ...own, ...member });
    await send("POST", `${api}/projects/${project.id}/invitations`, wanted.body, own.headers);
    const listed = await send("GET", `${api}/projects/${project.id}/invitations`, undefined, own.headers);
    await step(`DELETE ${api}/projects/:id/invitations/:invitationId`, "invitation.withdrawn", {
      ...own,
      ids: { ...ids, invitationId: listed.body.invitations[0].id },
    });
    const newcomer = { email: "newcomer@example.com", role: "viewer" };
    const second = await send("POST", `${api}/projects/${project.id}/invitations`, newcomer, own.headers);
    await step(`POST ${api}/invitations/sign-up`, "account.created", {
      by: "user",
      headers: { origin: app.url },
      body: { token: second.body.link.split("#")[1], password },
    });
    await step(`DELETE ${api}/projects/:id`, "project.deleted", { ...own, ids });
    await step(`POST ${api}/projects/:id/purge`, "project.purged", { ...own, ids });
  });

  it("has how people sign in, and what they change about that", async () => {
    const api = "/dashboard/api";
    const person = await createPerson(app);
    const visitor = { by: "user", headers: { origin: app.url } } as const;
    const credentials = { email: person.email, password };
    secrets.add(password);
    await step(`POST ${api}/sign-in`, "session.created", { ...visitor, body: credentials });
    let own = { by: "user", headers: await cookieFor(person.accountId) } as const;
    const confirmed = { ...own, body: { currentPassword: password } };
    const started = await send("POST", `${api}/account/codes`, confirmed.body, own.headers);
    const totp = new TOTP({ secret: Secret.fromBase32(started.body.secret) });
    secrets.add(started.body.secret);
    const code = () => totp.generate({ timestamp: app.clock.now() });
    await step(`POST ${api}/account/codes/confirm`, "codes.enabled", { ...own, body: { code: code() } });
    app.clock.advance(90_000);
    const asked = await send("POST", `${api}/sign-in`, credentials, visitor.headers);
    await step(`POST ${api}/sign-in/code`, "session.created", {
      ...visitor,
      body: { ticket: asked.body.ticket, code: code() },
    });
    const { recoveryCodes } = await step(
      `POST ${api}/account/recovery-codes`,
      "recovery-codes.created",
      confirmed,
    );
    for (const recoveryCode of recoveryCodes) secrets.add(recoveryCode);
    await step(`DELETE ${api}/account/codes`, "codes.disabled", confirmed);
    const { sessions } = (await send("GET", `${api}/sessions`, undefined, own.headers)).body;
    const other = sessions.find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent);
    await step(`DELETE ${api}/sessions/:id`, "session.ended", { ...own, ids: { id: other.id } });

    const { sessions: left } = (await send("GET", `${api}/sessions`, undefined, own.headers)).body;
    const session = {
      id: left.find(({ isCurrent }: { isCurrent: boolean }) => isCurrent).id,
      ...person,
      tier: "free" as const,
      mayOwnProjects: true,
    };
    const now = app.clock.now();
    const passkey = { id: createId(now), credential_id: "c", public_key: "the-public-key", name: "phone" };
    const added = await readTrail(app, () =>
      keepPasskey(app.app.deps, session, {
        ...passkey,
        account_id: person.accountId,
        sign_count: 0,
        created_at: now,
      }),
    );
    assert.deepEqual([added[0]?.action, added[0]?.changes], ["passkey.added", '{"name":{"to":"phone"}}']);
    const withPasskey = { ...confirmed, ids: { id: passkey.id } };
    await step(`DELETE ${api}/account/passkeys/:id`, "passkey.removed", withPasskey);

    const changed = {
      email: `new-${person.email}`,
      password: "a new long password",
      currentPassword: password,
    };
    secrets.add(changed.password);
    await step(`PUT ${api}/account`, "account.updated", { ...own, body: changed });
    own = { by: "user", headers: await cookieFor(person.accountId) };
    await step(`POST ${api}/sign-out`, "session.ended", { ...own, body: {} });
    const { link } = await createLoginLink(app.app.deps, changed.email);
    const token = link.split("#")[1] ?? "";
    secrets.add(token);
    await step(`POST ${api}/claim`, "account.claimed", {
      ...visitor,
      body: { token, email: person.email, password },
    });
  });

  it("has what the installation's owner changes, with what it was before", async () => {
    const own = { by: "user", headers: await cookieFor(app.owner.accountId) } as const;
    const body = { email: "customer@example.com", tier: "free" };
    const made = await step("POST /dashboard/api/admin/accounts", "account.created", { ...own, body });
    secrets.add(made.link.split("#")[1]);
    const { accounts } = (await send("GET", "/dashboard/api/admin/accounts", undefined, own.headers)).body;
    const { id } = accounts.find(({ email }: { email: string }) => email === body.email);
    const change = { tier: "enterprise", limits: { rateUpload: 7 } };
    const rows = await readTrail(app, () =>
      step("PATCH /dashboard/api/admin/accounts/:id", "account.updated", {
        ...own,
        ids: { id },
        body: change,
      }),
    );
    const [row] = rows;
    assert.deepEqual(JSON.parse(row?.changes ?? ""), {
      tier: { from: "free", to: "enterprise" },
      rateUpload: { to: 7 },
    });
    assert.deepEqual(
      [row?.author_id, row?.author_name, row?.account_id, row?.target_id, row?.target_label],
      [app.owner.accountId, app.owner.email, id, id, body.email],
    );
  });

  it("has an entry for every call that changes something", () => {
    const all = ["/api/v1", "/dashboard/api"].flatMap((prefix) =>
      listRoutes(app, prefix).map((route) => route.replace(" ", ` ${prefix}`)),
    );
    const changing = all.filter((route) => !route.startsWith("GET "));
    assert.deepEqual([...called, ...Object.keys(leftOut)].sort(), changing.sort());
  });

  it("holds no secret and no name or metadata of a file", async () => {
    const everything = JSON.stringify(await listTrail(app));
    assert.ok(everything.includes('\\"password\\":{}'), "a changed password shows as changed");
    assert.ok(everything.includes('\\"metadata\\":{}'), "changed metadata shows as changed");
    for (const secret of [...secrets, tenant.live, tenant.test])
      assert.ok(!everything.includes(secret), `${secret} is in the trail`);
    assert.ok(!everything.includes("hash"), "no column of hashes");
  });

  it("records nothing that was rolled back or refused", async () => {
    const viewer = await createPerson(app);
    const member = {
      projectId: tenant.projectId,
      accountId: viewer.accountId,
      role: "viewer",
      now: 0,
    } as const;
    await app.app.deps.db.run(putMember, member);
    const headers = await cookieFor(viewer.accountId);
    const rows = await readTrail(app, async () => {
      const rolledBack = app.app.deps.db.transact(async (tx) => {
        await record(tx, app.clock.now(), serviceAuthor, {
          action: "project.updated",
          target: { kind: "project", id: tenant.projectId },
        });
        throw new Error("the change failed");
      });
      await assert.rejects(rolledBack, /the change failed/);
      const missing = await app.call("DELETE", `keys/${"0".repeat(26)}`, { key: tenant.live });
      assert.equal(missing.status, 404);
      const path = `/dashboard/api/projects/${tenant.projectId}`;
      assert.equal((await app.call("DELETE", path, { headers })).status, 403);
    });
    assert.deepEqual(rows, []);
  });

  it("bounds what an entry holds", () => {
    const long = describeChanges("route", {}, { slug: "x".repeat(10_000) });
    assert.equal(JSON.parse(long).slug.to, `${"x".repeat(500)}…`);
    const ids = Array.from({ length: 5_000 }, (_, i) => `id ${i}`);
    assert.ok(describeChanges("files", { ids }, {}).length < 8_193);
    assert.equal(describeChanges("route", { slug: "a" }, { slug: "a", hash: "b" }), "{}");
    assert.equal(
      describeChanges("route", {}, { webhook_url: "https://user:pass@hooks.example/a?token=b#c" }),
      '{"webhookUrl":{"to":"https://hooks.example/a?…"}}',
    );
  });
});
