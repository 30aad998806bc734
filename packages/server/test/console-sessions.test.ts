import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Secret, TOTP } from "otpauth";
import { changeCredentials } from "../src/dashboard/credentials.ts";
import { createPasswordWork, type PasswordWork } from "../src/dashboard/password-work.ts";
import { deleteSessionsOfAccount, listSessions } from "../src/dashboard/queries.ts";
import { signIn } from "../src/dashboard/sign-in.ts";
import { createSessionToken } from "./support/console-client.ts";
import { createPerson, password } from "./support/console-people.ts";
import { dumpData } from "./support/dump-data.ts";
import { type Answer, onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { startPair } from "./support/start-pair.ts";

const name = "upstow_session";

const ask = (app: TestApp, value: string, method = "GET", path = "/session", body?: unknown) =>
  app.call(method, `/dashboard/api${path}`, {
    ...(body === undefined ? {} : { body }),
    headers: { origin: app.url, cookie: `${name}=${value}` },
  });

function cookieOf(answer: Answer): string {
  return /^upstow_session=([^;]+)/.exec(answer.headers.get("set-cookie") ?? "")?.[1] ?? "";
}

const countSessions = async (app: TestApp, accountId: string) =>
  (await app.app.deps.db.all(listSessions, { accountId, now: app.clock.now() })).length;

onAnyDatabase("sessions of the dashboard", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  test("a cookie counts only as it was signed", async () => {
    const { accountId } = await createPerson(app);
    const value = await createSessionToken(app, accountId);
    const [token = "", signature = ""] = value.split(".");
    const other = await createSessionToken(app, accountId);
    const flip = (text: string) => (text.startsWith("A") ? "B" : "A") + text.slice(1);
    const forged = {
      "no signature": token,
      "an empty signature": `${token}.`,
      "another signature": `${token}.${flip(signature)}`,
      "another token": `${flip(token)}.${signature}`,
      "the signature of another session": `${token}.${other.split(".")[1]}`,
      "a signature cut short": value.slice(0, -1),
      nothing: "",
    };
    for (const [what, cookie] of Object.entries(forged)) {
      const answer = await ask(app, cookie);
      assert.equal(answer.status, 401, what);
      assert.equal(answer.headers.get("set-cookie"), null, what);
    }
    assert.equal((await ask(app, value)).status, 200);
  });

  test("the database knows neither the cookie nor the token in it", async () => {
    const { accountId } = await createPerson(app);
    const value = await createSessionToken(app, accountId);
    const kept = await dumpData(app);
    assert.ok(kept.includes(accountId));
    assert.ok(!kept.includes(value.split(".")[0] ?? ""));
  });

  test("only letting somebody in sends a cookie", async () => {
    const { accountId } = await createPerson(app);
    const value = await createSessionToken(app, accountId);
    for (const path of ["/session", "/sessions", "/projects"]) {
      const answer = await ask(app, value, "GET", path);
      assert.deepEqual([answer.status, answer.headers.get("set-cookie")], [200, null]);
    }
    assert.equal((await ask(app, "")).headers.get("set-cookie"), null);
    assert.equal(await countSessions(app, accountId), 1);
  });

  test("each step of signing in ends with another token, and the one before is worth nothing", async () => {
    const { accountId, email } = await createPerson(app);
    const byPassword = await ask(app, "", "POST", "/sign-in", { email, password });
    const first = cookieOf(byPassword);
    const started = await ask(app, first, "POST", "/account/codes", { currentPassword: password });
    const codeAt = () =>
      new TOTP({ secret: Secret.fromBase32(started.body.secret) }).generate({ timestamp: app.clock.now() });
    await ask(app, first, "POST", "/account/codes/confirm", { code: codeAt() });
    app.clock.advance(90_000);

    const asked = await ask(app, first, "POST", "/sign-in", { email, password });
    assert.deepEqual([asked.body.needsCode, asked.headers.get("set-cookie")], [true, null]);
    assert.equal((await ask(app, first)).status, 200, "a password alone changes nothing");
    const { ticket } = asked.body;
    const byCode = await ask(app, first, "POST", "/sign-in/code", { ticket, code: codeAt() });
    const second = cookieOf(byCode);
    assert.match(second, /^[\w-]{43}\./);
    assert.notEqual(second.split(".")[0], first.split(".")[0]);
    assert.deepEqual([(await ask(app, first)).status, (await ask(app, second)).status], [401, 200]);

    const changed = await ask(app, second, "PUT", "/account", {
      email,
      password: "another long one",
      currentPassword: password,
    });
    const third = cookieOf(changed);
    assert.deepEqual([(await ask(app, second)).status, (await ask(app, third)).status], [401, 200]);
    assert.equal(await countSessions(app, accountId), 1);
  });

  /** Checks as always, and hands over when something else has happened in the meantime. */
  function slowWork(meanwhile: () => Promise<unknown>): PasswordWork {
    const work = createPasswordWork();
    return {
      hash: work.hash,
      async verify(given, known) {
        const isRight = await work.verify(given, known);
        await meanwhile();
        return isRight;
      },
    };
  }

  test("a password that is changed while it is checked lets nobody in", async () => {
    const { accountId, email } = await createPerson(app);
    const { deps } = app.app;
    const value = await createSessionToken(app, accountId);
    const entrant = { address: "127.0.0.1", userAgent: "late", device: null, token: "late", oldToken: "" };
    const session = { id: "any", accountId, email, tier: "free" as const, mayOwnProjects: true };
    const [changed, other] = ["changed in the meantime", "changed by somebody else"];
    let mine: Answer | undefined;
    const change = slowWork(async () => {
      mine ??= await ask(app, value, "PUT", "/account", {
        email,
        password: changed,
        currentPassword: password,
      });
    });
    const body = { email, password: other, currentPassword: password };
    await assert.rejects(
      changeCredentials(deps, change, session, body, entrant),
      /current password is incorrect/,
    );
    assert.equal(mine?.status, 200);

    const fresh = cookieOf(mine);
    const again = slowWork(() =>
      ask(app, fresh, "PUT", "/account", { email, password, currentPassword: changed }),
    );
    await assert.rejects(
      signIn(deps, again, { email, password: changed }, entrant),
      /incorrect email address or password/i,
    );
    const rows = await deps.db.all(listSessions, { accountId, now: deps.now() });
    assert.deepEqual(
      rows.filter((row) => row.user_agent === "late"),
      [],
    );
    assert.equal(rows.length, 1);
  });

  test("a changed password ends what was begun with the old one", async () => {
    const { accountId, email } = await createPerson(app);
    const value = await createSessionToken(app, accountId);
    const started = await ask(app, value, "POST", "/account/codes", { currentPassword: password });
    const codeAt = () =>
      new TOTP({ secret: Secret.fromBase32(started.body.secret) }).generate({ timestamp: app.clock.now() });
    await ask(app, value, "POST", "/account/codes/confirm", { code: codeAt() });
    app.clock.advance(90_000);
    const { ticket } = (await ask(app, "", "POST", "/sign-in", { email, password })).body;
    const body = { email, password: "another long one", currentPassword: password };
    assert.equal((await ask(app, value, "PUT", "/account", body)).status, 200);
    assert.equal((await ask(app, "", "POST", "/sign-in/code", { ticket, code: codeAt() })).status, 403);
    assert.equal(await countSessions(app, accountId), 1);
  });

  test("whoever is not let in keeps the session that they had", async () => {
    const [one, other] = [await createPerson(app), await createPerson(app)];
    const value = await createSessionToken(app, one.accountId);
    const failing: [string, string, object, number][] = [
      ["POST", "/sign-in", { email: other.email, password: "wrong" }, 401],
      ["POST", "/claim", { token: "none", email: one.email, password }, 403],
      ["PUT", "/account", { email: other.email, password, currentPassword: password }, 400],
      ["PUT", "/account", { email: one.email, password, currentPassword: "wrong" }, 400],
    ];
    for (const [method, path, body, status] of failing) {
      const answer = await ask(app, value, method, path, body);
      assert.deepEqual([answer.status, answer.headers.get("set-cookie")], [status, null], path);
      assert.equal((await ask(app, value)).body.account?.id, one.accountId, path);
    }
    assert.equal(await countSessions(app, one.accountId), 1);
    assert.equal(await countSessions(app, other.accountId), 0);
  });

  test("a late request with the old cookie does not take back the new one", async () => {
    const { email } = await createPerson(app);
    const old = cookieOf(await ask(app, "", "POST", "/sign-in", { email, password }));
    await ask(app, old, "POST", "/sign-in", { email, password });
    const late = await ask(app, old);
    assert.deepEqual([late.status, late.headers.get("set-cookie")], [401, null]);
  });
});

test("a session whose row is gone is refused at once, on every instance", async () => {
  const { apps, close } = await startPair();
  try {
    const [first, second] = apps;
    const { accountId } = await createPerson(first);
    const [kept, revoked] = [
      await createSessionToken(first, accountId),
      await createSessionToken(first, accountId),
    ];
    for (const app of apps) assert.equal((await ask(app, revoked)).status, 200);
    const { sessions } = (await ask(second, revoked, "GET", "/sessions")).body;
    const { id } = sessions.find((session: { isCurrent: boolean }) => session.isCurrent);
    assert.equal((await ask(first, kept, "DELETE", `/sessions/${id}`)).status, 200);
    for (const app of apps) assert.equal((await ask(app, revoked)).status, 401);
    for (const app of apps) assert.equal((await ask(app, kept)).status, 200);
    await second.app.deps.db.run(deleteSessionsOfAccount, { accountId });
    for (const app of apps) assert.equal((await ask(app, kept)).status, 401);
  } finally {
    await close();
  }
});

test("replacing the installation's secret signs nobody out, until the old one goes", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "upstow-secrets-"));
  const [old, fresh] = ["a".repeat(40), "b".repeat(40)];
  const start = (secret: string) =>
    startApp({ database: "sqlite", env: { UPSTOW_SECRET: secret }, reuse: { dataDir } });
  try {
    const before = await start(old);
    const { accountId } = before.owner;
    const signedOld = await createSessionToken(before, accountId);
    assert.equal((await ask(before, signedOld)).status, 200);
    await before.close();

    const both = await start(`${fresh},${old}`);
    const renewed = await ask(both, signedOld);
    assert.equal(renewed.body.account.id, accountId);
    const signedFresh = cookieOf(renewed);
    assert.equal(signedFresh.split(".")[0], signedOld.split(".")[0]);
    assert.notEqual(signedFresh, signedOld);
    const again = await ask(both, signedFresh);
    assert.deepEqual([again.status, again.headers.get("set-cookie")], [200, null]);
    assert.equal(await countSessions(both, accountId), 1);
    await both.close();

    const without = await start(fresh);
    assert.equal((await ask(without, signedOld)).status, 401);
    assert.equal((await ask(without, signedFresh)).status, 200);
    await without.close();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
