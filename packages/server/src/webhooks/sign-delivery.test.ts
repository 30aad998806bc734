import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { Receiver } from "@upstash/qstash";
import { jwtVerify } from "jose";
import { Webhook } from "standardwebhooks";
import { type DeliveryToSign, keyIdOf, signDelivery } from "./sign-delivery.ts";

const key = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const body = Buffer.from('{"file":{"id":"f1"},"projectId":"p1"}');
const delivery: DeliveryToSign = {
  messageId: "msg_1",
  attemptId: "att_1",
  attempt: 1,
  retried: 0,
  event: "upload.completed",
  environment: "live",
  routeSlug: "docs",
  url: "https://example.com/hooks/upload",
  body,
};

function createKey(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

describe("signDelivery", () => {
  it("makes the signatures that another implementation makes of the same values", () => {
    const headers = signDelivery(delivery, { current: key, previous: null }, 1_700_000_000_000, "delivery");
    const [head = "", claims = "", signature] = headers["delivery-signature"]?.split(".") ?? [];
    assert.equal(signature, "Eeb8mCyJvQHUXXnZ6pGBs9oKYyLZlFbxT6hgqopPxL0");
    assert.deepEqual(JSON.parse(Buffer.from(head, "base64url").toString()), {
      alg: "HS256",
      typ: "JWT",
      kid: "5036e143",
    });
    assert.equal(
      JSON.parse(Buffer.from(claims, "base64url").toString()).body,
      "CV-JV9-ISyEpoHW56X9go0lPvWYJ70RhZrV1WUz4W-s",
    );
    assert.equal(headers["webhook-signature"], "v1,vP4bmbM+bV0/RdsxJ3lHoOhBlRdDh13J1/UYHajYMNw=");
    assert.equal(keyIdOf(key), "5036e143");
  });

  it("is accepted by a stock JWT library", async () => {
    const current = createKey();
    const headers = signDelivery(delivery, { current, previous: null }, Date.now());
    const { payload, protectedHeader } = await jwtVerify(
      headers["delivery-signature"] ?? "",
      new TextEncoder().encode(current),
      { algorithms: ["HS256"], issuer: "upstow", subject: delivery.url },
    );
    assert.equal(payload.jti, "att_1");
    assert.equal(payload["msg"], "msg_1");
    assert.equal(payload["att"], 1);
    assert.equal(payload["evt"], "upload.completed");
    assert.equal(payload["env"], "live");
    assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 300);
    assert.equal(payload.nbf, payload.iat);
    assert.equal(protectedHeader.kid, keyIdOf(current));
  });

  it("is accepted by the Standard Webhooks library with the current and with the previous key", () => {
    const current = createKey();
    const previous = createKey();
    const headers = signDelivery(delivery, { current, previous }, Date.now());
    for (const known of [current, previous]) {
      assert.deepEqual(new Webhook(known).verify(body.toString(), headers), JSON.parse(body.toString()));
    }
    assert.throws(() => new Webhook(createKey()).verify(body.toString(), headers));
    assert.throws(() => new Webhook(current).verify("{}", headers));
  });

  it("is accepted by a receiver of the same shape that pins its own issuer", async () => {
    const current = createKey();
    const receiver = new Receiver({ currentSigningKey: createKey(), nextSigningKey: current });
    const signed = (issuer: string) =>
      signDelivery(delivery, { current, previous: null }, Date.now(), issuer)["delivery-signature"] ?? "";
    const request = { body: body.toString(), url: delivery.url };
    assert.equal(await receiver.verify({ ...request, signature: signed("Upstash") }), true);
    await assert.rejects(receiver.verify({ ...request, signature: signed("upstow") }));
  });
});
