import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { throttleAddress, throttlePassword } from "../src/dashboard/throttle.ts";
import { statement } from "../src/db/statement.ts";
import { createPerson, password } from "./support/console-people.ts";
import { type Answer, callApi, onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";

const dayMs = 24 * 60 * 60 * 1000;

function sessionCookieOf(answer: Answer): string {
  return answer.headers.getSetCookie().find((cookie) => cookie.includes("upstow_session=")) ?? "";
}

function cookieOf(answer: Answer): string {
  return sessionCookieOf(answer).split(";", 1)[0] ?? "";
}

onAnyDatabase("signing in to the dashboard", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
    await createPerson(app, "ada@example.com");
  });
  after(() => app.close());

  function call(
    method: string,
    path: string,
    options: { cookie?: string; body?: unknown; headers?: object } = {},
  ) {
    const { cookie, body, headers } = options;
    return app.call(method, `/dashboard/api${path}`, {
      ...(body === undefined ? {} : { body }),
      headers: { origin: app.url, ...(cookie === undefined ? {} : { cookie }), ...headers },
    });
  }

  async function signIn(email = "ada@example.com"): Promise<string> {
    const answer = await call("POST", "/sign-in", { body: { email, password } });
    assert.equal(answer.status, 200);
    return cookieOf(answer);
  }

  test("the owner's link works once and sets how they sign in", async () => {
    const token = app.app.firstStart?.loginToken ?? "";
    const short = await call("POST", "/claim", {
      body: { token, email: "me@example.com", password: "short" },
    });
    assert.equal(short.status, 400);
    const body = { token, email: "Me@Example.com", password };
    const first = await call("POST", "/claim", { body });
    assert.equal(first.status, 200);
    const session = await call("GET", "/session", { cookie: cookieOf(first) });
    assert.equal(session.body.account.email, "me@example.com");
    assert.equal((await call("POST", "/claim", { body })).status, 403);
    await signIn("me@example.com");
  });

  test("a link for an address that is taken stays usable", async () => {
    const other = await startApp({ database });
    try {
      await createPerson(other, "ada@example.com");
      const token = other.app.firstStart?.loginToken ?? "";
      const claim = (email: string) =>
        callApi(other.url, "POST", "/dashboard/api/claim", {
          body: { token, email, password },
          headers: { origin: other.url },
        });
      assert.equal((await claim("ada@example.com")).status, 400);
      assert.equal((await claim("owner@example.com")).status, 200);
    } finally {
      await other.close();
    }
  });

  test("a link ends after a day", async () => {
    const other = await startApp({ database });
    try {
      other.clock.advance(dayMs + 1);
      const token = other.app.firstStart?.loginToken ?? "";
      const answer = await callApi(other.url, "POST", "/dashboard/api/claim", {
        body: { token, email: "owner@example.com", password },
        headers: { origin: other.url },
      });
      assert.equal(answer.status, 403);
    } finally {
      await other.close();
    }
  });

  test("the cookie is out of reach for scripts and other sites", async () => {
    const answer = await call("POST", "/sign-in", { body: { email: "ada@example.com", password } });
    const cookie = sessionCookieOf(answer);
    assert.match(
      cookie,
      /^upstow_session=[\w-]{43}\.\S{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    const lastsMs = Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? "") - Date.now();
    assert.ok(lastsMs > 59 * dayMs && lastsMs < 61 * dayMs);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.ok(!JSON.stringify(answer.body).includes(cookieOf(answer).split("=")[1] ?? "-"));
    assert.ok(!app.logLines.join("").includes(cookieOf(answer).split("=")[1] ?? "-"));
  });

  test("a wrong password and an unknown address get the same answer", async () => {
    const wrong = await call("POST", "/sign-in", { body: { email: "ada@example.com", password: "wrong" } });
    const unknown = await call("POST", "/sign-in", { body: { email: "bob@example.com", password: "wrong" } });
    assert.equal(wrong.status, 401);
    assert.deepEqual([wrong.status, wrong.body], [unknown.status, unknown.body]);
    assert.equal(wrong.headers.get("set-cookie"), null);
  });

  test("an account without a password cannot be signed in to", async () => {
    const { email } = await app.createTenant("free");
    assert.equal((await call("POST", "/sign-in", { body: { email, password } })).status, 401);
  });

  test("signing in ends the session that the browser came with and uses a new token", async () => {
    const planted = await signIn();
    const answer = await call("POST", "/sign-in", {
      cookie: planted,
      body: { email: "ada@example.com", password },
    });
    const fresh = cookieOf(answer);
    assert.notEqual(fresh, planted);
    assert.equal((await call("GET", "/session", { cookie: planted })).status, 401);
    assert.equal((await call("GET", "/session", { cookie: fresh })).status, 200);
    for (const both of [`${fresh}; ${planted}`, `${planted}; ${fresh}`]) {
      assert.equal((await call("GET", "/session", { cookie: both })).status, 401);
    }
  });

  test("a token of one's own choice is never taken over", async () => {
    const chosen = `upstow_session=${"a".repeat(43)}`;
    const answer = await call("POST", "/sign-in", {
      cookie: chosen,
      body: { email: "ada@example.com", password },
    });
    assert.notEqual(cookieOf(answer), chosen);
    assert.equal((await call("GET", "/session", { cookie: chosen })).status, 401);
  });

  test("sessions are listed and ended one by one, and only one's own", async () => {
    const here = await signIn();
    const there = await signIn();
    const { sessions } = (await call("GET", "/sessions", { cookie: there })).body;
    const current = sessions.find((session: { isCurrent: boolean }) => session.isCurrent);
    await createPerson(app, "eve@example.com");
    const eve = await signIn("eve@example.com");
    assert.equal((await call("DELETE", `/sessions/${current.id}`, { cookie: eve })).status, 404);
    assert.equal((await call("DELETE", `/sessions/${current.id}`, { cookie: here })).status, 200);
    assert.equal((await call("GET", "/session", { cookie: there })).status, 401);
    assert.equal((await call("GET", "/session", { cookie: here })).status, 200);
  });

  test("signing out ends the session and clears the cookie", async () => {
    const cookie = await signIn();
    const answer = await call("POST", "/sign-out", { cookie });
    const cleared = answer.headers.get("set-cookie") ?? "";
    assert.match(
      cleared,
      /^upstow_session=; Max-Age=0; Path=\/; Expires=[^;]+ 1970 [^;]+; HttpOnly; SameSite=Strict$/,
    );
    assert.equal((await call("GET", "/session", { cookie })).status, 401);
  });

  test("a new password needs the old one and ends all other sessions", async () => {
    await createPerson(app, "joe@example.com");
    const [here, there] = [await signIn("joe@example.com"), await signIn("joe@example.com")];
    const body = { email: "joe@example.com", password: "another long one" };
    const wrong = await call("PUT", "/account", { cookie: here, body: { ...body, currentPassword: "no" } });
    assert.equal(wrong.status, 400);
    const right = await call("PUT", "/account", {
      cookie: here,
      body: { ...body, currentPassword: password },
    });
    assert.equal(right.status, 200);
    for (const ended of [here, there]) {
      assert.equal((await call("GET", "/session", { cookie: ended })).status, 401);
    }
    assert.equal((await call("GET", "/session", { cookie: cookieOf(right) })).status, 200);
  });

  test("a new e-mail address needs the password, and leaves it as it is", async () => {
    await createPerson(app, "ann@example.com");
    const cookie = await signIn("ann@example.com");
    const body = { email: "anna@example.com", currentPassword: "no" };
    assert.equal((await call("PUT", "/account", { cookie, body })).status, 400);
    const right = await call("PUT", "/account", { cookie, body: { ...body, currentPassword: password } });
    assert.equal(right.status, 200);
    await signIn("anna@example.com");
  });

  test("a session that nobody uses ends", async () => {
    const cookie = await signIn();
    app.clock.advance(13 * dayMs);
    assert.equal((await call("GET", "/session", { cookie })).status, 200);
    app.clock.advance(13 * dayMs);
    assert.equal((await call("GET", "/session", { cookie })).status, 200);
    app.clock.advance(15 * dayMs);
    assert.equal((await call("GET", "/session", { cookie })).status, 401);
  });

  test("other sites' pages cannot act in the visitor's name", async () => {
    const cookie = await signIn();
    const forged = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: app.url, "sec-fetch-site": "cross-site" },
      { origin: app.url, "sec-fetch-site": "same-site" },
      { origin: app.url.replace(/:\d+$/, ":1") },
    ];
    for (const headers of forged) {
      const answer = await call("POST", "/sign-out", { cookie, headers });
      assert.equal(answer.status, 403, JSON.stringify(headers));
    }
    const bare = await app.call("POST", "/dashboard/api/sign-out", { headers: { cookie } });
    assert.equal(bare.status, 403);
    const form = await call("POST", "/sign-in", {
      body: "email=ada@example.com",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    assert.equal(form.status, 400);
    assert.equal((await call("GET", "/session", { cookie })).status, 200);
  });

  test("the cookie opens nothing in the customer API", async () => {
    const cookie = await signIn();
    assert.equal((await app.call("GET", "files", { headers: { cookie } })).status, 401);
  });
});

test("guessing from one address is slowed down", async () => {
  const app = await startApp({ keepRateLimits: true });
  try {
    const guess = () =>
      app.call("POST", "/dashboard/api/sign-in", {
        body: { email: "ada@example.com", password: "guess" },
        headers: { origin: app.url },
      });
    for (let tries = 0; tries < 9; tries++) await throttleAddress(app.app.deps, "127.0.0.1");
    assert.deepEqual([(await guess()).status, (await guess()).status], [401, 429]);
  } finally {
    await app.close();
  }
});

test("guessing at one account from many addresses is slowed down, whether or not there is one", async () => {
  const app = await startApp({
    keepRateLimits: true,
    env: { UPSTOW_TRUSTED_PROXIES: "127.0.0.1", UPSTOW_PUBLIC_URL: "https://files.example.com" },
  });
  try {
    const { email } = await app.createTenant("free");
    const answers = [];
    for (const [last, address] of [email, "nobody@example.com"].entries()) {
      for (let tries = 0; tries < 100; tries++) {
        const caller = { address: `10.${last}.${tries}.1`, device: null };
        await throttlePassword(app.app.deps, caller, address);
      }
      const { status, body } = await app.call("POST", "/dashboard/api/sign-in", {
        body: { email: address.toUpperCase(), password: "guess" },
        headers: {
          origin: "https://files.example.com",
          "x-forwarded-proto": "https",
          "x-forwarded-for": `198.51.100.${last}`,
        },
      });
      answers.push([status, body.error.code]);
    }
    assert.deepEqual(answers, Array(2).fill([429, "RATE_LIMITED"]));
  } finally {
    await app.close();
  }
});

test("over https the cookie is bound to the host", async () => {
  const app = await startApp({
    env: { UPSTOW_TRUSTED_PROXIES: "127.0.0.1", UPSTOW_PUBLIC_URL: "https://files.example.com" },
  });
  try {
    const headers = {
      origin: "https://files.example.com",
      "x-forwarded-proto": "https",
      "x-forwarded-for": "198.51.100.7",
    };
    const answer = await app.call("POST", "/dashboard/api/claim", {
      body: { token: app.app.firstStart?.loginToken, email: "me@example.com", password },
      headers,
    });
    const cookie = sessionCookieOf(answer);
    assert.match(
      cookie,
      /^__Host-upstow_session=[\w-]{43}\.\S{43}; Path=\/; .*HttpOnly; Secure; SameSite=Strict$/,
    );
    const signOut = (given: string) =>
      app.call("POST", "/dashboard/api/sign-out", { headers: { ...headers, cookie: given } });
    const bound = cookieOf(answer);
    assert.equal((await signOut(bound.replace("__Host-", ""))).status, 401, "any subdomain can set this one");
    const ended = await signOut(bound);
    assert.equal(ended.status, 200);
    const cleared = ended.headers.get("set-cookie") ?? "";
    assert.match(
      cleared,
      /^__Host-upstow_session=; Max-Age=0; Path=\/; .*HttpOnly; Secure; SameSite=Strict$/,
    );
  } finally {
    await app.close();
  }
});

const listHashes = statement((q, _: object) =>
  q.selectFrom("account").select("password_hash").where("password_hash", "is not", null),
);

test("the program hashes passwords at full cost, 64 MiB and two passes a guess", async () => {
  const app = await startApp({ keepPasswordCost: true });
  try {
    const headers = { origin: app.url };
    const body = { token: app.app.firstStart?.loginToken ?? "", email: "me@example.com", password };
    assert.equal((await app.call("POST", "/dashboard/api/claim", { headers, body })).status, 200);
    const [kept, ...others] = await app.app.deps.db.all(listHashes, {});
    assert.deepEqual(others, []);
    assert.match(kept?.password_hash ?? "", /^scrypt\$65536\$8\$2\$/);
    const signIn = { headers, body: { email: "me@example.com", password } };
    assert.equal((await app.call("POST", "/dashboard/api/sign-in", signIn)).status, 200);
  } finally {
    await app.close();
  }
});
