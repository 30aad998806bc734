import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { Secret, TOTP } from "otpauth";
import { keepPasskey } from "../src/dashboard/factors/passkeys.ts";
import { insertPasskey } from "../src/dashboard/factors/queries.ts";
import { createId } from "../src/kernel/ids.ts";
import { createAccount, createLoginLink } from "../src/projects/accounts/accounts.ts";
import { createSessionToken, signInAs } from "./support/console-client.ts";
import { createPerson, password } from "./support/console-people.ts";
import { expectError } from "./support/expect-error.ts";
import { type Answer, onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";

const newPassword = "staple correct horse";

onAnyDatabase("getting an account back", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  function call(method: string, path: string, body?: unknown, cookie = ""): Promise<Answer> {
    const headers = { origin: app.url, cookie };
    return app.call(method, `/dashboard/api${path}`, body === undefined ? { headers } : { body, headers });
  }
  const sessionOf = (answer: Answer) => answer.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
  const cookieFor = async (accountId: string) => `upstow_session=${await createSessionToken(app, accountId)}`;
  const factorsOf = async (cookie: string) => (await call("GET", "/account/factors", undefined, cookie)).body;
  const makeLink = async (email: string) =>
    (await createLoginLink(app.app.deps, email)).link.split("#")[1] ?? "";
  const newEmail = () => `${createId(app.clock.now())}@example.com`;

  const passkeyOf = (accountId: string, name: string) => ({
    id: createId(app.clock.now()),
    account_id: accountId,
    credential_id: randomBytes(16).toString("base64url"),
    public_key: randomBytes(32).toString("base64url"),
    sign_count: 0,
    name,
    created_at: app.clock.now(),
  });
  async function addPasskeys(accountId: string, ...names: string[]): Promise<string[]> {
    const rows = names.map((name) => passkeyOf(accountId, name));
    for (const row of rows) await app.app.deps.db.run(insertPasskey, row);
    return rows.map((row) => row.id);
  }
  async function turnOnCodes(cookie: string, current = password): Promise<void> {
    const { body } = await call("POST", "/account/codes", { currentPassword: current }, cookie);
    const totp = new TOTP({ secret: Secret.fromBase32(body.secret) });
    const code = totp.generate({ timestamp: app.clock.now() });
    assert.equal((await call("POST", "/account/codes/confirm", { code }, cookie)).status, 200);
  }

  test("a link of the operator removes passkeys, codes, recovery codes, sessions and other links", async () => {
    const { accountId, email } = await createPerson(app);
    const cookie = await cookieFor(accountId);
    await turnOnCodes(cookie);
    await addPasskeys(accountId, "laptop", "phone");
    const { ticket } = (await call("POST", "/sign-in", { email, password })).body;
    assert.ok(ticket);
    const [first, second] = [await makeLink(email), await makeLink(email)];
    assert.equal((await factorsOf(cookie)).passkeys.length, 2, "a link that nobody opened changes nothing");
    const claimed = await call("POST", "/claim", { token: first, email, password: newPassword });
    assert.equal(claimed.status, 200);
    assert.deepEqual(await factorsOf(sessionOf(claimed)), {
      hasCodes: false,
      recoveryCodesLeft: 0,
      passkeys: [],
    });
    assert.equal((await call("GET", "/session", undefined, cookie)).status, 401);
    assert.equal((await call("POST", "/sign-in/code", { ticket, code: "123456" })).status, 403);
    assert.equal((await call("POST", "/claim", { token: second, email, password })).status, 403);
    assert.equal((await call("POST", "/sign-in", { email, password })).status, 401);
    assert.deepEqual((await call("POST", "/sign-in", { email, password: newPassword })).body, { ok: true });
  });

  test("a passkey that was on its way when the session ended is not kept", async () => {
    const { accountId, email } = await createPerson(app);
    const cookie = await cookieFor(accountId);
    const { sessions } = (await call("GET", "/sessions", undefined, cookie)).body;
    const session = { id: sessions[0].id, accountId, email, tier: "free", mayOwnProjects: true } as const;
    await keepPasskey(app.app.deps, session, passkeyOf(accountId, "in time"));
    const claimed = await call("POST", "/claim", {
      token: await makeLink(email),
      email,
      password: newPassword,
    });
    await assert.rejects(keepPasskey(app.app.deps, session, passkeyOf(accountId, "late")), {
      code: "UNAUTHORIZED",
    });
    assert.deepEqual((await factorsOf(sessionOf(claimed))).passkeys, []);
  });

  test("an account prepared for somebody else's address is of no use once they get it", async () => {
    const attacker = await app.createTenant("pro");
    const inviter = await signInAs(app, attacker.accountId);
    const victim = newEmail();
    const invite = async (call: typeof inviter, projectId: string) => {
      const made = await call("POST", `/projects/${projectId}/invitations`, { email: victim, role: "owner" });
      return made.body.link.split("#")[1];
    };
    const token = await invite(inviter, attacker.projectId);
    const entered = await call("POST", "/invitations/sign-up", { token, password });
    const cookie = sessionOf(entered);
    assert.equal((await call("POST", "/invitations/accept", { token }, cookie)).status, 200);
    const { account } = (await call("GET", "/session", undefined, cookie)).body;
    await addPasskeys(account.id, "attacker's");
    await turnOnCodes(cookie);

    // Somebody else invites the address: its owner can't get in, and whoever prepared the account has no link.
    const honest = await app.createTenant("pro");
    const owner = await signInAs(app, honest.accountId);
    const second = await invite(owner, honest.projectId);
    const refused = await call("POST", "/invitations/sign-up", { token: second, password: newPassword });
    expectError(refused, 401, "UNAUTHORIZED");
    const { projects } = (await call("GET", "/projects", undefined, cookie)).body;
    assert.deepEqual(
      projects.map((project: { id: string }) => project.id),
      [attacker.projectId],
    );

    // So they ask the operator.
    const claimed = await call("POST", "/claim", {
      token: await makeLink(victim),
      email: victim,
      password: newPassword,
    });
    const recovered = sessionOf(claimed);
    const factors = await factorsOf(recovered);
    assert.deepEqual([factors.hasCodes, factors.recoveryCodesLeft, factors.passkeys], [false, 0, []]);
    assert.equal((await call("GET", "/session", undefined, cookie)).status, 401);
    assert.equal((await call("POST", "/sign-in", { email: victim, password })).status, 401);
    const joined = await call("POST", "/invitations/accept", { token: second }, recovered);
    assert.equal(joined.body.projectId, honest.projectId);
  });

  test("an address that only an invitation vouches for is shown as unverified, until the operator helps", async () => {
    const tenant = await app.createTenant("pro");
    const owner = await signInAs(app, tenant.accountId);
    const isVerified = async (email: string) => {
      const { members } = (await owner("GET", `/projects/${tenant.projectId}/members`)).body;
      return members.find((member: { email: string }) => member.email === email)?.emailVerified;
    };
    const join = async (email: string, secret: string) => {
      const path = `/projects/${tenant.projectId}/invitations`;
      const made = await owner("POST", path, { email, role: "viewer" });
      const token = made.body.link.split("#")[1];
      const cookie = sessionOf(await call("POST", "/invitations/sign-up", { token, password: secret }));
      await call("POST", "/invitations/accept", { token }, cookie);
      return cookie;
    };
    const invited = newEmail();
    await join(invited, password);
    assert.equal(await isVerified(tenant.email), true);
    assert.equal(await isVerified(invited), false);

    const made = await createAccount(app.app.deps, { email: newEmail(), password, tier: "free" });
    const cookie = await join(made.email, password);
    assert.equal(await isVerified(made.email), true, "the operator made it");
    const other = newEmail();
    const changed = await call("PUT", "/account", { email: other, currentPassword: password }, cookie);
    assert.equal(changed.status, 200);
    assert.equal(await isVerified(other), false, "nobody vouches for the new address");
    await call(
      "PUT",
      "/account",
      { email: other, password: newPassword, currentPassword: password },
      sessionOf(changed),
    );
    assert.equal(await isVerified(other), false);

    for (const [link, given, expected] of [
      [invited, invited, true],
      [other, newEmail(), false],
    ] as const) {
      const claim = { token: await makeLink(link), email: given, password };
      assert.equal((await call("POST", "/claim", claim)).status, 200);
      assert.equal(await isVerified(given), expected);
    }
  });

  test("a new password removes the passkeys that are named with it, or none of it happens", async () => {
    const { accountId, email } = await createPerson(app);
    const other = await createPerson(app);
    const [laptop, phone, key] = await addPasskeys(accountId, "laptop", "phone", "key");
    const [foreign = ""] = await addPasskeys(other.accountId, "theirs");
    let cookie = await cookieFor(accountId);
    const names = async () =>
      (await factorsOf(cookie)).passkeys.map((passkey: { name: string }) => passkey.name);
    const change = async (body: object) => {
      const answer = await call("PUT", "/account", { email, currentPassword: password, ...body }, cookie);
      if (answer.status === 200) cookie = sessionOf(answer);
      return answer;
    };
    const wrong = { currentPassword: "wrong", removePasskeys: "all" };
    assert.equal((await change(wrong)).status, 400);
    assert.equal((await change({ email: other.email, removePasskeys: "all" })).status, 400, "is taken");
    for (const removePasskeys of ["some", [1], Array(21).fill(laptop), {}])
      assert.equal((await change({ removePasskeys })).status, 400);
    assert.deepEqual(await names(), ["laptop", "phone", "key"]);
    assert.equal((await change({ removePasskeys: [laptop, foreign] })).status, 200);
    assert.deepEqual(await names(), ["phone", "key"]);
    assert.equal((await factorsOf(await cookieFor(other.accountId))).passkeys.length, 1);
    const both = { password: newPassword, removePasskeys: [phone] };
    assert.equal((await change(both)).status, 200);
    assert.deepEqual(await names(), ["key"]);
    assert.equal((await change({ currentPassword: newPassword })).status, 200);
    assert.deepEqual(await names(), ["key"], "nothing was asked for");
    assert.equal((await change({ currentPassword: newPassword, removePasskeys: "all" })).status, 200);
    assert.deepEqual(await names(), []);
    assert.ok(key);
  });
});
