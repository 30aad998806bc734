import assert from "node:assert/strict";
import { createHmac, hash, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { SignJWT, UnsecuredJWT } from "jose";
import { type DeliveryToSign, signDelivery } from "../../../server/src/webhooks/sign-delivery.ts";
import { type DeliveryErrorCode, type VerifyInput, verifyDelivery } from "./index.ts";

const url = "https://example.com/hooks/upload?a=1";
const body = '{"file":{"id":"f1","name":"ü"},"projectId":"p1"}';
const currentKey = createKey();
const nextKey = createKey();

function createKey(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

function sign(
  key: string,
  nowMs = Date.now(),
  changes: Partial<DeliveryToSign> = {},
): Record<string, string> {
  return signDelivery(
    {
      messageId: "msg_1",
      attemptId: "att_1",
      attempt: 2,
      retried: 1,
      event: "upload.completed",
      environment: "live",
      routeSlug: "docs",
      url,
      body: Buffer.from(body),
      ...changes,
    },
    { current: key, previous: null },
    nowMs,
  );
}

function verify(changes: Partial<VerifyInput>) {
  return verifyDelivery({ body, url, headers: sign(currentKey), currentKey, nextKey, ...changes });
}

function refused(changes: Partial<VerifyInput>, code: DeliveryErrorCode) {
  return assert.rejects(verify(changes), { name: "DeliveryError", code }, code);
}

const claims = {
  iss: "upstow",
  sub: url,
  jti: "att_1",
  msg: "msg_1",
  att: 2,
  body: "x",
  iat: Math.floor(Date.now() / 1000),
  nbf: Math.floor(Date.now() / 1000),
  exp: Math.floor(Date.now() / 1000) + 300,
};

describe("verifyDelivery", () => {
  it("accepts what was signed with either key and tells what it proves", async () => {
    for (const key of [currentKey, nextKey]) {
      const verified = await verify({ headers: sign(key) });
      assert.equal(verified.messageId, "msg_1");
      assert.equal(verified.attempt, 2);
      assert.ok(Math.abs(verified.signedAt.getTime() - Date.now()) < 5_000);
    }
  });

  it("reads bodies as text or bytes, and headers of every runtime", async () => {
    const headers = sign(currentKey);
    await verify({ body: new TextEncoder().encode(body) });
    await verify({ body: Buffer.from(body) });
    await verify({ headers: new Headers(headers) });
    const upperCase = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]);
    await verify({ headers: Object.fromEntries(upperCase) });
  });

  it("compares URLs as the wire spells them", async () => {
    for (const same of [`${url}#part`, "https://EXAMPLE.com:443/hooks/upload?a=1"])
      await verify({ url: same });
  });

  it("has an error of its own for each kind of tampering", async () => {
    const headers = sign(currentKey);
    const signature = headers["delivery-signature"] ?? "";
    const withSignature = (text: string) => ({ headers: { ...headers, "delivery-signature": text } });
    await refused({ body: `${body} ` }, "BODY_MISMATCH");
    await refused({ url: "https://example.com/hooks/other" }, "URL_MISMATCH");
    await refused({ headers: { ...headers, "delivery-message-id": "msg_2" } }, "MESSAGE_MISMATCH");
    await refused({ headers: { ...headers, "delivery-attempt": "1" } }, "ATTEMPT_MISMATCH");
    await refused(withSignature(""), "SIGNATURE_MISSING");
    await refused({ headers: {} }, "SIGNATURE_MISSING");
    for (const cut of [signature.slice(0, -1), signature.slice(0, 60), `${signature}.x`, "a.b.c", "x"]) {
      await refused(withSignature(cut), "SIGNATURE_MALFORMED");
    }
    const [head = "", payload = "", mac = ""] = signature.split(".");
    const edited = Buffer.from(payload, "base64url").toString().replace("msg_1", "msg_2");
    const forged = [head, Buffer.from(edited).toString("base64url"), mac].join(".");
    await refused(withSignature(forged), "SIGNATURE_INVALID");
    await refused(withSignature(new UnsecuredJWT(claims).encode()), "SIGNATURE_NONE");
    const secret = new TextEncoder().encode(currentKey);
    const hs512 = await new SignJWT(claims).setProtectedHeader({ alg: "HS512" }).sign(secret);
    await refused(withSignature(hs512), "ALGORITHM_REFUSED");
    const foreign = await new SignJWT({ ...claims, iss: "other" })
      .setProtectedHeader({ alg: "HS256" })
      .sign(secret);
    await refused(withSignature(foreign), "ISSUER_MISMATCH");
  });

  it("tries both keys when the token names neither, and only the named one otherwise", async () => {
    const token = (kid: string | null) => {
      const headers = sign(nextKey);
      const [, payload] = (headers["delivery-signature"] ?? "").split(".");
      const head = { alg: "HS256", typ: "JWT", ...(kid === null ? {} : { kid }) };
      const signed = `${Buffer.from(JSON.stringify(head)).toString("base64url")}.${payload}`;
      const mac = createHmac("sha256", nextKey).update(signed).digest("base64url");
      return { headers: { ...headers, "delivery-signature": `${signed}.${mac}` } };
    };
    await verify(token(null));
    await verify(token("00000000"));
    const ofCurrent = JSON.parse(
      Buffer.from(sign(currentKey)["delivery-signature"]?.split(".")[0] ?? "", "base64url").toString(),
    ).kid;
    await refused(token(ofCurrent), "SIGNATURE_INVALID");
  });

  it("never takes another project's key", async () => {
    await refused({ headers: sign(createKey()) }, "SIGNATURE_INVALID");
  });

  it("returns the event and the environment, as they were signed", async () => {
    for (const environment of ["live", "test"] as const) {
      const real = await verify({ headers: sign(currentKey, Date.now(), { environment }) });
      assert.deepEqual([real.event, real.environment], ["upload.completed", environment]);
      const test = await verify({ headers: sign(currentKey, Date.now(), { environment, event: "test" }) });
      assert.deepEqual([test.event, test.environment], ["webhook.test", environment]);
    }
    const headers = sign(currentKey, Date.now(), { event: "test" });
    await refused({ headers: { ...headers, "delivery-event": "upload.completed" } }, "EVENT_MISMATCH");
    await refused({ headers: { ...headers, "delivery-environment": "test" } }, "ENVIRONMENT_MISMATCH");
    const { "delivery-signature": signature = "" } = headers;
    const bare = await verify({ headers: { "delivery-signature": signature } });
    assert.deepEqual([bare.event, bare.environment], ["webhook.test", "live"], "without the other headers");
  });

  it("takes keys of both environments, each for its own deliveries alone", async () => {
    const testKeys = { testCurrentKey: createKey(), testNextKey: createKey() };
    for (const [keys, environment] of [
      [[currentKey, nextKey], "live"],
      [Object.values(testKeys), "test"],
    ] as const) {
      for (const key of keys) {
        const verified = await verify({ headers: sign(key, Date.now(), { environment }), ...testKeys });
        assert.equal(verified.environment, environment);
        const other = environment === "live" ? "test" : "live";
        const headers = sign(key, Date.now(), { environment: other });
        await refused({ headers, ...testKeys }, "ENVIRONMENT_MISMATCH");
        const older = await signWithoutMarks(key);
        assert.equal((await verify({ headers: older, ...testKeys })).environment, environment);
      }
    }
    const { testCurrentKey } = testKeys;
    const headers = sign(testCurrentKey, Date.now(), { environment: "test" });
    await refused({ headers }, "SIGNATURE_INVALID");
    await verify({ headers, testCurrentKey });
    // As `upstow listen` prints them, beside what .env has already.
    await verify({ headers, currentKey: testCurrentKey, nextKey: testKeys.testNextKey, ...testKeys });
    await refused({ testCurrentKey: "svc_test_1" }, "BAD_CONFIGURATION");
  });

  it("accepts deliveries of older versions, which say neither event nor environment", async () => {
    const verified = await verify({ headers: await signWithoutMarks(currentKey) });
    assert.deepEqual([verified.messageId, verified.event, verified.environment], ["msg_1", null, null]);
  });

  /** As the service signed before it named event and environment. */
  async function signWithoutMarks(key: string): Promise<Record<string, string>> {
    const digest = hash("sha256", body, "base64url");
    const token = await new SignJWT({ ...claims, body: digest })
      .setProtectedHeader({ alg: "HS256", typ: "JWT", kid: hash("sha256", key).slice(0, 8) })
      .sign(new TextEncoder().encode(key));
    return { "delivery-signature": token, "delivery-message-id": "msg_1", "delivery-attempt": "2" };
  }

  it("forgives clocks 29 seconds off, and says expired or early beyond", async (t) => {
    const signedAt = 1_800_000_000_000;
    const headers = sign(currentKey, signedAt);
    t.mock.timers.enable({ apis: ["Date"], now: signedAt - 29_000 });
    await verify({ headers });
    t.mock.timers.setTime(signedAt + 329_000);
    await verify({ headers });
    t.mock.timers.setTime(signedAt + 331_000);
    await refused({ headers }, "EXPIRED");
    t.mock.timers.reset();
    t.mock.timers.enable({ apis: ["Date"], now: signedAt - 31_000 });
    await refused({ headers }, "NOT_YET_VALID");
  });

  it("says so when it was set up wrongly", async () => {
    await refused({ currentKey: "" }, "BAD_CONFIGURATION");
    await refused({ url: "/hooks/upload" }, "BAD_CONFIGURATION");
  });
});
