import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Secret, TOTP } from "otpauth";
import { confirmTotp, findTotp } from "../src/dashboard/factors/queries.ts";
import { pauseAfter } from "../src/dashboard/factors/totp.ts";
import { createSessionToken } from "./support/console-client.ts";
import { createPerson, password } from "./support/console-people.ts";
import { dumpData } from "./support/dump-data.ts";
import { type Answer, callApi, onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";

const stepMs = 30_000;

onAnyDatabase("one-time codes", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  function call(method: string, path: string, body?: unknown, cookie = ""): Promise<Answer> {
    const headers = { origin: app.url, cookie };
    return app.call(method, `/dashboard/api${path}`, body === undefined ? { headers } : { body, headers });
  }

  const codeFor = (secret: string, offsetMs = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.now() + offsetMs });

  async function openAccount() {
    const { accountId, email } = await createPerson(app);
    const cookie = `upstow_session=${await createSessionToken(app, accountId)}`;
    return { accountId, cookie, signIn: () => call("POST", "/sign-in", { email, password }) };
  }

  /** Somebody whose account takes codes; a while has passed since the first. */
  async function createGuarded() {
    const person = await openAccount();
    const started = await call("POST", "/account/codes", { currentPassword: password }, person.cookie);
    const secret: string = started.body.secret;
    const confirmed = await call("POST", "/account/codes/confirm", { code: codeFor(secret) }, person.cookie);
    app.clock.advance(3 * stepMs);
    return { ...person, secret, recoveryCodes: confirmed.body.recoveryCodes as string[] };
  }

  const askFor = async (signIn: () => Promise<Answer>): Promise<string> => (await signIn()).body.ticket;
  const giveCode = (ticket: string, code: string) => call("POST", "/sign-in/code", { ticket, code });

  test("a password alone opens nothing once a first code was given", async () => {
    const { signIn, cookie } = await openAccount();
    const { body } = await call("POST", "/account/codes", { currentPassword: password }, cookie);
    assert.match(body.uri, /^otpauth:\/\/totp\/Upstow:\w+%40example\.com\?issuer=Upstow&secret=/);
    assert.equal((await signIn()).body.ok, true, "nothing is guarded before the first code");
    const wrong = await call("POST", "/account/codes/confirm", { code: "000000" }, cookie);
    assert.equal(wrong.status, 400);
    const right = await call("POST", "/account/codes/confirm", { code: codeFor(body.secret) }, cookie);
    assert.equal(new Set(right.body.recoveryCodes).size, 10);
    const asked = await signIn();
    assert.deepEqual([asked.status, asked.body.needsCode], [200, true]);
    assert.equal(asked.headers.get("set-cookie"), null);
    const { ticket } = asked.body;
    assert.equal((await call("GET", "/session", undefined, `upstow_session=${ticket}`)).status, 401);
    app.clock.advance(2 * stepMs);
    const entered = await giveCode(ticket, codeFor(body.secret));
    assert.equal(entered.status, 200);
    assert.equal((await call("GET", "/session", undefined, cookieOf(entered))).status, 200);
    app.clock.advance(2 * stepMs);
    const again = await giveCode(ticket, codeFor(body.secret));
    assert.equal(again.status, 403, "a ticket is good for one session");
  });

  test("a code turns on the key that it was made with, and no other that took its place", async () => {
    const { accountId, cookie, signIn } = await openAccount();
    const start = () => call("POST", "/account/codes", { currentPassword: password }, cookie);
    const { db, now } = app.app.deps;
    await start();
    const first = await db.get(findTotp, { accountId });
    const second = await start();
    // As when the second was started after the code had been compared with the first.
    const replaced = { accountId, sealed: first?.secret_sealed ?? "", now: now() };
    assert.equal(await db.transact((tx) => tx.get(confirmTotp, replaced)), null);
    assert.equal((await signIn()).body.ok, true, "nothing is guarded");
    const code = codeFor(second.body.secret);
    assert.equal((await call("POST", "/account/codes/confirm", { code }, cookie)).status, 200);
  });

  test("a code works once, and only around its time", async () => {
    const { signIn, secret } = await createGuarded();
    const first = await askFor(signIn);
    const second = await askFor(signIn);
    const code = codeFor(secret);
    assert.equal((await giveCode(first, codeFor(secret, -10 * stepMs))).status, 401);
    assert.equal((await giveCode(first, code)).status, 200);
    assert.equal((await giveCode(second, code)).status, 401);
    app.clock.advance(2 * stepMs);
    assert.equal((await giveCode(second, codeFor(secret))).status, 200);
  });

  test("a ticket ends after five minutes, and one for something else is none", async () => {
    const { signIn, secret, cookie } = await createGuarded();
    const ticket = await askFor(signIn);
    app.clock.advance(5 * 60_000);
    assert.equal((await giveCode(ticket, codeFor(secret))).status, 403);
    const byName = app.url.replace("127.0.0.1", "localhost");
    const options = await callApi(byName, "POST", "/dashboard/api/account/passkeys/options", {
      body: { currentPassword: password },
      headers: { origin: byName, cookie },
    });
    assert.equal(options.status, 200);
    assert.equal((await giveCode(options.body.ticket, codeFor(secret))).status, 403);
  });

  test("wrong codes make the next one wait, longer each time", async () => {
    const { signIn, secret } = await createGuarded();
    const ticket = await askFor(signIn);
    for (let wrong = 0; wrong < 5; wrong++) assert.equal((await giveCode(ticket, "000000")).status, 401);
    const refused = await giveCode(ticket, codeFor(secret));
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get("retry-after")) <= pauseAfter(5) / 1000);
    app.clock.advance(pauseAfter(5));
    assert.equal((await giveCode(ticket, "000000")).status, 401);
    app.clock.advance(pauseAfter(6) - 20_000);
    assert.equal((await giveCode(ticket, codeFor(secret))).status, 429);
    app.clock.advance(20_000);
    assert.equal((await giveCode(ticket, codeFor(secret))).status, 200);
    assert.deepEqual([4, 5, 6, 60].map(pauseAfter), [0, 30_000, 60_000, 3_600_000]);
  });

  test("a recovery code works once, and new ones replace the old", async () => {
    const { signIn, recoveryCodes, cookie } = await createGuarded();
    const [first = "", second = ""] = recoveryCodes;
    assert.equal((await giveCode(await askFor(signIn), first.toUpperCase())).status, 200);
    const ticket = await askFor(signIn);
    assert.equal((await giveCode(ticket, first)).status, 401);
    const factors = await call("GET", "/account/factors", undefined, cookie);
    assert.deepEqual([factors.body.hasCodes, factors.body.recoveryCodesLeft], [true, 9]);
    const renewed = await call("POST", "/account/recovery-codes", { currentPassword: password }, cookie);
    assert.equal((await giveCode(ticket, second)).status, 401);
    assert.equal((await giveCode(ticket, renewed.body.recoveryCodes[0])).status, 200);
  });

  test("every change of a second factor asks for the password", async () => {
    const { cookie } = await openAccount();
    const calls: [method: string, path: string][] = [
      ["POST", "/account/codes"],
      ["DELETE", "/account/codes"],
      ["POST", "/account/recovery-codes"],
      ["POST", "/account/passkeys/options"],
      ["DELETE", `/account/passkeys/${"0".repeat(26)}`],
    ];
    for (const [method, path] of calls) {
      const refused = await call(method, path, { currentPassword: "not this one" }, cookie);
      assert.equal(refused.status, 400, path);
      assert.equal(refused.body.error.details[0].path, "currentPassword");
    }
  });

  test("codes are turned off, and what they left is gone", async () => {
    const { signIn, cookie, secret } = await createGuarded();
    assert.equal((await call("POST", "/account/codes", { currentPassword: password }, cookie)).status, 400);
    const ticket = await askFor(signIn);
    assert.equal((await call("DELETE", "/account/codes", { currentPassword: password }, cookie)).status, 200);
    assert.equal((await giveCode(ticket, codeFor(secret))).status, 403);
    assert.equal((await signIn()).body.ok, true);
    const { body } = await call("GET", "/account/factors", undefined, cookie);
    assert.deepEqual([body.hasCodes, body.recoveryCodesLeft], [false, 0]);
  });

  test("neither logs nor data hold what makes or replaces a code", async () => {
    const { secret, recoveryCodes } = await createGuarded();
    const kept = (await dumpData(app)) + app.logLines.join("");
    const codes = recoveryCodes.flatMap((code) => [code, code.replaceAll("-", "")]);
    for (const hidden of [secret, ...codes]) assert.ok(!kept.includes(hidden));
  });

  test("passkeys are refused where a page was opened by address", async () => {
    const refused = await call("POST", "/sign-in/passkey/options");
    assert.equal(refused.status, 400);
    assert.match(refused.body.error.message, /opened with a host name/);
  });
});

function cookieOf(answer: Answer): string {
  return answer.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
}
