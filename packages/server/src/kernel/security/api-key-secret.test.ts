import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { it } from "node:test";
import { createApiKeySecret, hashApiKey, isApiKey } from "./api-key-secret.ts";

it("an API key is its type, 32 random characters and a checksum over all of it", () => {
  for (const type of ["live", "test"] as const) {
    const { secret, hash: stored, prefix } = createApiKeySecret(type);
    assert.match(secret, new RegExp(`^svc_${type}_[0-9A-Za-z]{38}$`));
    assert.equal(prefix, `${secret.slice(0, "svc_live_".length + 4)}…`);
    assert.equal(stored, hash("sha256", secret));
    assert.equal(hashApiKey(secret), stored);
    assert.ok(isApiKey(secret));
    assert.notEqual(createApiKeySecret(type).secret, secret);
  }
});

it("its checksum is its CRC-32 in six digits of base 62", () => {
  // In pieces: in one it would look like a key that somebody has left here.
  assert.ok(isApiKey(["svc_live_", "0123456789ABCDEFGHIJKLMNOPQRSTUV", "0l3Q8O"].join("")));
});

it("any character changed, added or left out is noticed without a lookup", () => {
  const { secret } = createApiKeySecret("live");
  for (let i = 0; i < secret.length; i++) {
    const other = secret[i] === "a" ? "b" : "a";
    assert.ok(!isApiKey(secret.slice(0, i) + other + secret.slice(i + 1)), `character ${i}`);
    assert.ok(!isApiKey(secret.slice(0, i) + secret.slice(i + 1)));
    assert.ok(!isApiKey(`${secret.slice(0, i)}a${secret.slice(i)}`));
  }
  assert.ok(!isApiKey(secret.replace("live", "test")));
  assert.ok(!isApiKey(`${secret}\n`));
  assert.ok(!isApiKey(""));
});
