import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createId } from "../src/kernel/ids.ts";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { createPerson, password } from "./support/console-people.ts";
import { dumpData } from "./support/dump-data.ts";
import { type Answer, onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";

const dayMs = 24 * 60 * 60 * 1000;

onBothDatabases("members of a project", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let owner: ConsoleCall;
  let members: string;
  let invitations: string;

  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());
  beforeEach(async () => {
    tenant = await app.createTenant("pro");
    owner = await signInAs(app, tenant.accountId);
    members = `/projects/${tenant.projectId}/members`;
    invitations = `/projects/${tenant.projectId}/invitations`;
  });

  async function openAccount() {
    const { accountId: id, email } = await createPerson(app);
    return { id, email, call: await signInAs(app, id) };
  }

  async function inviteAs(inviter: ConsoleCall, email: string, role: string): Promise<string> {
    const answer = await inviter("POST", invitations, { email, role });
    assert.equal(answer.status, 201);
    const [page, token = ""] = answer.body.link.split("#");
    assert.equal(page, `${app.app.deps.config.publicUrl}/dashboard/join`);
    return token;
  }

  async function addMember(role: string) {
    const person = await openAccount();
    const token = await inviteAs(owner, person.email, role);
    assert.equal((await person.call("POST", "/invitations/accept", { token })).status, 200);
    return person;
  }

  const outside = (path: string, body: unknown): Promise<Answer> =>
    app.call("POST", `/dashboard/api${path}`, { body, headers: { origin: app.url } });

  test("an invitation makes its holder a member, once", async () => {
    const person = await openAccount();
    const token = await inviteAs(owner, person.email.toUpperCase(), "developer");
    const seen = await outside("/invitations/look", { token });
    assert.deepEqual(seen.body, { email: person.email, role: "developer", projectName: "tenant" });
    const joined = await person.call("POST", "/invitations/accept", { token });
    assert.equal(joined.body.projectId, tenant.projectId);
    assert.equal((await person.call("POST", "/invitations/accept", { token })).status, 403);
    assert.equal((await outside("/invitations/look", { token })).status, 403);
    const { body } = await person.call("GET", members);
    assert.deepEqual(
      body.members.map((member: { email: string; role: string }) => [member.email, member.role]),
      [
        [tenant.email, "owner"],
        [person.email, "developer"],
      ],
    );
    const logs = await owner("GET", `/in/${tenant.projectId}/live/logs?type=member.joined`);
    assert.equal(logs.body.logs[0].message, `${person.email} joined as developer.`);
  });

  test("who has no account makes one with the invitation, and nobody without", async () => {
    const email = `new-${createId(app.clock.now())}@example.com`;
    const token = await inviteAs(owner, email, "viewer");
    assert.equal((await outside("/invitations/sign-up", { token, password: "short" })).status, 400);
    assert.equal((await outside("/invitations/sign-up", { token: "made-up", password })).status, 403);
    const entered = await outside("/invitations/sign-up", { token, password });
    assert.equal(entered.status, 200);
    const cookie = entered.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    const headers = { origin: app.url, cookie };
    const joined = await app.call("POST", "/dashboard/api/invitations/accept", { body: { token }, headers });
    assert.equal(joined.body.projectId, tenant.projectId);
    const { body } = await app.call("GET", "/dashboard/api/projects", { headers });
    assert.deepEqual(
      body.projects.map((project: { role: string }) => project.role),
      ["viewer"],
    );
  });

  test("neither inviting nor looking tells whether an address has an account", async () => {
    const known = await openAccount();
    const unknown = `nobody-${createId(app.clock.now())}@example.com`;
    const answers = [];
    for (const email of [known.email, unknown]) {
      const { status, body } = await owner("POST", invitations, { email, role: "viewer" });
      const token = body.link.split("#")[1];
      const seen = await outside("/invitations/look", { token });
      answers.push([status, Object.keys(body), Object.keys(seen.body)]);
    }
    assert.deepEqual(answers[0], answers[1]);
    const token = await inviteAs(owner, known.email, "viewer");
    const guess = await outside("/invitations/sign-up", { token, password: "not the right one" });
    assert.equal(guess.status, 401);
    assert.equal(guess.headers.get("set-cookie"), null);
    const own = await outside("/invitations/sign-up", { token, password });
    assert.deepEqual([own.status, own.body], [200, { ok: true }]);
  });

  test("an invitation is for one address, ends after a week and can be withdrawn or replaced", async () => {
    const [person, other] = [await openAccount(), await openAccount()];
    const first = await inviteAs(owner, person.email, "viewer");
    const refused = await other.call("POST", "/invitations/accept", { token: first });
    assert.equal(refused.status, 403);
    assert.match(refused.body.error.message, /another email address/);
    const second = await inviteAs(owner, person.email, "developer");
    assert.equal((await person.call("POST", "/invitations/accept", { token: first })).status, 403);
    const listed = (await owner("GET", invitations)).body.invitations;
    assert.deepEqual([listed.length, listed[0].email], [1, person.email]);
    assert.equal((await owner("DELETE", `${invitations}/${listed[0].id}`)).status, 200);
    assert.equal((await owner("DELETE", `${invitations}/${listed[0].id}`)).status, 404);
    assert.equal((await person.call("POST", "/invitations/accept", { token: second })).status, 403);
    const third = await inviteAs(owner, person.email, "viewer");
    app.clock.advance(7 * dayMs);
    assert.equal((await person.call("POST", "/invitations/accept", { token: third })).status, 403);
  });

  test("roles are changed and members removed, from their next request on", async () => {
    const { id, call } = await addMember("viewer");
    const rename = () => call("PATCH", `/projects/${tenant.projectId}`, { name: "renamed" });
    assert.equal((await rename()).status, 403);
    assert.equal((await owner("PATCH", `${members}/${id}`, { role: "owner" })).status, 200);
    assert.equal((await rename()).status, 200);
    assert.equal((await owner("PATCH", `${members}/${id}`, { role: "king" })).status, 400);
    assert.equal((await owner("DELETE", `${members}/${id}`)).status, 200);
    assert.equal((await call("GET", members)).status, 404);
    assert.equal((await owner("DELETE", `${members}/${id}`)).status, 404);
  });

  test("the account that a project counts to stays its owner, and members may leave", async () => {
    const second = await addMember("owner");
    assert.equal((await second.call("DELETE", `${members}/${tenant.accountId}`)).status, 404);
    const demote = await second.call("PATCH", `${members}/${tenant.accountId}`, { role: "viewer" });
    assert.equal(demote.status, 404);
    const viewer = await addMember("viewer");
    assert.equal((await viewer.call("DELETE", `${members}/${second.id}`)).status, 403);
    assert.equal((await viewer.call("DELETE", `${members}/${viewer.id}`)).status, 200);
    assert.equal((await viewer.call("GET", members)).status, 404);
  });

  test("links that a former owner made end with their role", async () => {
    const friend = await openAccount();
    for (const end of ["remove", "demote"]) {
      const second = await addMember("owner");
      const token = await inviteAs(second.call, friend.email, "owner");
      if (end === "remove") await owner("DELETE", `${members}/${second.id}`);
      else await owner("PATCH", `${members}/${second.id}`, { role: "developer" });
      assert.equal((await friend.call("POST", "/invitations/accept", { token })).status, 403, end);
    }
  });

  test("a deleted project takes nobody in, and an owner's own invitation changes nothing", async () => {
    const person = await openAccount();
    const own = await inviteAs(owner, tenant.email, "viewer");
    assert.equal((await owner("POST", "/invitations/accept", { token: own })).status, 200);
    const token = await inviteAs(owner, person.email, "viewer");
    assert.equal((await owner("DELETE", `/projects/${tenant.projectId}`)).status, 200);
    assert.equal((await outside("/invitations/look", { token })).status, 403);
    assert.equal((await person.call("POST", "/invitations/accept", { token })).status, 403);
  });

  test("neither logs nor data hold the link", async () => {
    const token = await inviteAs(owner, "somebody@example.com", "viewer");
    await outside("/invitations/look", { token });
    assert.ok(!((await dumpData(app)) + app.logLines.join("")).includes(token));
  });
});

test("making and trying invitations is slowed down", async () => {
  const app = await startApp({ keepRateLimits: true });
  try {
    const { accountId, projectId } = await app.createTenant("pro");
    const owner = await signInAs(app, accountId);
    const statuses: number[] = [];
    for (let i = 0; i < 11; i++) {
      const body = { email: `p${i}@example.com`, role: "viewer" };
      statuses.push((await owner("POST", `/projects/${projectId}/invitations`, body)).status);
    }
    assert.deepEqual(statuses, [...Array(10).fill(201), 429]);
    const looks: number[] = [];
    for (let i = 0; i < 11; i++) {
      const options = { body: { token: `guess-${i}` }, headers: { origin: app.url } };
      looks.push((await app.call("POST", "/dashboard/api/invitations/look", options)).status);
    }
    assert.deepEqual(looks, [...Array(10).fill(403), 429]);
  } finally {
    await app.close();
  }
});
