import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { throttlePassword } from "../src/dashboard/throttle.ts";
import { createPerson, password } from "./support/console-people.ts";
import { type Answer, onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";

const origin = "https://files.example.com";

onAnyDatabase("nobody is locked out by strangers", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({
      database,
      keepRateLimits: true,
      env: { UPSTOW_TRUSTED_PROXIES: "127.0.0.1", UPSTOW_PUBLIC_URL: origin },
    });
  });
  after(() => app.close());

  function call(method: string, path: string, address: string, body?: unknown, cookie = ""): Promise<Answer> {
    return app.call(method, `/dashboard/api${path}`, {
      ...(body === undefined ? {} : { body }),
      headers: { origin, "x-forwarded-proto": "https", "x-forwarded-for": address, cookie },
    });
  }
  const signIn = (email: string, given: string, address: string, cookie = "") =>
    call("POST", "/sign-in", address, { email, password: given }, cookie);
  const cookieOf = (answer: Answer, name: string) =>
    answer.headers
      .getSetCookie()
      .map((cookie) => cookie.split(";", 1)[0] ?? "")
      .find((cookie) => cookie.startsWith(`__Host-upstow_${name}=`)) ?? "";

  /** From as many networks as it takes until even a new one is refused. */
  async function exhaust(email: string): Promise<void> {
    const guess = async (i: number) =>
      throttlePassword(app.app.deps, { address: `10.9.${i}.1`, device: null }, email);
    for (let i = 0; i < 256; i++) {
      try {
        await guess(i);
      } catch {
        return;
      }
    }
    assert.fail("guessing from everywhere has no limit");
  }

  test("by wrong passwords from one network", async () => {
    const { email } = await createPerson(app);
    const statuses = new Set<number>();
    for (let i = 0; i < 40; i++)
      statuses.add((await signIn(email, "wrong", `2001:db8:7:${i.toString(16)}::1`)).status);
    assert.deepEqual([...statuses], [401, 429], "the network itself is slowed down");
    assert.equal((await signIn(email, password, "2001:db8:8::1")).status, 200);
    assert.equal((await signIn(email, password, "198.51.100.7")).status, 200);
  });

  test("on a device that has signed in before, whatever comes from elsewhere", async () => {
    const { email } = await createPerson(app);
    const other = await createPerson(app);
    const first = await signIn(email, password, "198.51.100.20");
    const device = cookieOf(first, "device");
    assert.match(
      first.headers.getSetCookie().find((cookie) => cookie.startsWith("__Host-upstow_device=")) ?? "",
      /^__Host-upstow_device=\S+; Max-Age=\d+; Path=\/; (Expires=[^;]+; )?HttpOnly; Secure; SameSite=Strict$/,
    );
    const strangersDevice = cookieOf(await signIn(other.email, password, "198.51.100.21"), "device");
    await exhaust(email);
    assert.equal((await signIn(email, password, "198.51.100.22")).status, 429);
    assert.equal((await signIn(email, password, "198.51.100.23", strangersDevice)).status, 429);
    const forged = `${device.slice(0, -4)}AAAA`;
    assert.equal((await signIn(email, password, "198.51.100.24", forged)).status, 429);
    assert.equal((await signIn(email, password, "198.51.100.25", device)).status, 200);
    for (let i = 0; i < 12; i++) await signIn(other.email, "wrong", "198.51.100.26");
    assert.equal((await signIn(email, password, "198.51.100.26", device)).status, 200, "its address is full");

    const guesses = [];
    for (let i = 0; i < 12; i++) guesses.push((await signIn(email, "wrong", "198.51.100.27", device)).status);
    assert.equal(guesses.at(-1), 429, "a device has its own limit");
  });

  test("and a device is forgotten with the password that it signed in with", async () => {
    const { email } = await createPerson(app);
    const first = await signIn(email, password, "198.51.100.40");
    const former = cookieOf(first, "device");
    const body = { email, password: "another long one", currentPassword: password };
    const changed = await call("PUT", "/account", "198.51.100.40", body, cookieOf(first, "session"));
    assert.equal(changed.status, 200);
    await exhaust(email);
    assert.equal((await signIn(email, body.password, "198.51.100.41", former)).status, 429);
    const present = cookieOf(changed, "device");
    assert.equal((await signIn(email, body.password, "198.51.100.42", present)).status, 200);
  });

  test("who is signed in, and confirms a change with the password", async () => {
    const { email } = await createPerson(app);
    const session = cookieOf(await signIn(email, password, "198.51.100.60"), "session");
    await exhaust(email);
    const other = await createPerson(app);
    for (let i = 0; i < 12; i++) await signIn(other.email, "wrong", "198.51.100.60");
    const body = { currentPassword: password };
    assert.equal((await call("POST", "/account/codes", "198.51.100.60", body, session)).status, 200);
    const statuses = [];
    for (let i = 0; i < 12; i++) {
      const wrong = { currentPassword: "wrong" };
      statuses.push((await call("POST", "/account/codes", "198.51.100.61", wrong, session)).status);
    }
    assert.deepEqual([statuses[0], statuses.at(-1)], [400, 429]);
  });

  test("who uses a passkey, from an address that guessed passwords", async () => {
    const { email } = await createPerson(app);
    for (let i = 0; i < 12; i++) await signIn(email, "wrong", "198.51.100.80");
    assert.equal((await signIn(email, "wrong", "198.51.100.80")).status, 429);
    assert.equal((await call("POST", "/sign-in/passkey/options", "198.51.100.80")).status, 200);
  });
});
