import assert from "node:assert/strict";
import { createHmac, createSecretKey } from "node:crypto";
import { test } from "node:test";
import {
  createVariantSigner,
  formatExpiry,
  getSignedExpirySec,
  readExpiry,
  variantId,
} from "./variant-signature.ts";

const secretOf = (text: string) => createSecretKey(Buffer.from(text));
const signer = createVariantSigner({
  signedSecrets: [secretOf("signed-1")],
  publicSecrets: [secretOf("public-1")],
});
const recipe = "w_400,h_300,fit_cover,q_85,f_auto";
const key = "proj/abc/holiday photo.jpg";
const expiresSec = 1_800_003_600;
const beforeExpirySec = expiresSec - 1;

const publicClaim = { signature: signer.signPublic(recipe, key), recipe, key };
const expiringClaim = {
  signature: signer.signExpiring(String(expiresSec), recipe, key),
  expires: String(expiresSec),
  recipe,
  key,
};

test("signs the documented text with HMAC-SHA256 in base64url", () => {
  const expected = (secret: string, text: string) =>
    createHmac("sha256", secret).update(text).digest("base64url");
  assert.equal(publicClaim.signature, expected("public-1", `public\n${recipe}\n${key}`));
  assert.equal(expiringClaim.signature, expected("signed-1", `${expiresSec}\n${recipe}\n${key}`));
});

test("accepts its own signatures until they expire", () => {
  assert.equal(signer.verifyPublic(publicClaim), true);
  assert.equal(signer.verifyExpiring(expiringClaim, beforeExpirySec), true);
  assert.equal(signer.verifyExpiring(expiringClaim, expiresSec), false);
});

const edits: Record<string, Partial<typeof publicClaim>> = {
  "a wider image": { recipe: "w_401,h_300,fit_cover,q_85,f_auto" },
  "a reordered recipe": { recipe: "h_300,w_400,fit_cover,q_85,f_auto" },
  "a padded number": { recipe: "w_0400,h_300,fit_cover,q_85,f_auto" },
  "another key": { key: "proj/abc/other.jpg" },
  "a double-encoded key": { key: "proj%2Fabc%2Fholiday%20photo.jpg" },
  "a line break moved between the parts": { recipe: `${recipe}\nproj`, key: "abc/holiday photo.jpg" },
  "an empty signature": { signature: "" },
  "a signature beyond ASCII": { signature: "é".repeat(43) },
};
for (const [name, edit] of Object.entries(edits)) {
  test(`refuses ${name}`, () => {
    assert.equal(signer.verifyPublic({ ...publicClaim, ...edit }), false);
    assert.equal(signer.verifyExpiring({ ...expiringClaim, ...edit }, beforeExpirySec), false);
  });
}

test("refuses every change of one character, the last one's unused bits included", () => {
  for (let at = 0; at < publicClaim.signature.length; at++) {
    for (const letter of "ABCDwxyz0189-_=") {
      if (publicClaim.signature[at] === letter) continue;
      const signature = publicClaim.signature.slice(0, at) + letter + publicClaim.signature.slice(at + 1);
      assert.equal(signer.verifyPublic({ ...publicClaim, signature }), false);
    }
  }
});

test("refuses a longer lifetime and another spelling of the same one", () => {
  for (const expires of [String(expiresSec + 3600), `0${expiresSec}`, `${expiresSec}.0`, "Infinity", ""]) {
    assert.equal(signer.verifyExpiring({ ...expiringClaim, expires }, beforeExpirySec), false);
  }
});

test("a public signature opens no expiring URL, nor the other way, even with one shared secret", () => {
  const shared = [secretOf("shared")];
  const careless = createVariantSigner({ signedSecrets: shared, publicSecrets: shared });
  const fromPublic = { ...expiringClaim, signature: careless.signPublic(recipe, key) };
  assert.equal(careless.verifyExpiring(fromPublic, beforeExpirySec), false);
  assert.equal(careless.verifyExpiring({ ...fromPublic, expires: "public" }, beforeExpirySec), false);
  const fromSigned = { ...publicClaim, signature: careless.signExpiring(String(expiresSec), recipe, key) };
  assert.equal(careless.verifyPublic(fromSigned), false);
});

test("after a rotation old URLs work and new ones use the new secret", () => {
  const rotated = createVariantSigner({
    signedSecrets: [secretOf("signed-2"), secretOf("signed-1")],
    publicSecrets: [secretOf("public-2"), secretOf("public-1")],
  });
  assert.equal(rotated.verifyPublic(publicClaim), true);
  assert.equal(rotated.verifyExpiring(expiringClaim, beforeExpirySec), true);
  const fresh = { ...publicClaim, signature: rotated.signPublic(recipe, key) };
  assert.equal(rotated.verifyPublic(fresh), true);
  assert.equal(signer.verifyPublic(fresh), false);
});

test("an expiry bears the last revocation of a private file, and none of a public one", () => {
  for (const mark of [null, 0, 1_800_000_000_123])
    assert.deepEqual(readExpiry(formatExpiry(expiresSec, mark)), { sec: expiresSec, mark });
});

test("the focus point tells rendered images apart only where it is used", () => {
  const idOf = (gravity: "focus" | "n", focus: string) =>
    variantId("file", { width: 400, fit: "cover", quality: 85, format: "auto", gravity }, "webp", focus);
  assert.notEqual(idOf("focus", "0.1,0.1"), idOf("focus", "0.9,0.9"));
  assert.equal(idOf("n", "0.1,0.1"), idOf("n", "0.9,0.9"));
});

test("will not start without secrets", () => {
  const one = [secretOf("only")];
  assert.throws(() => createVariantSigner({ signedSecrets: [], publicSecrets: one }), /at least one secret/);
  assert.throws(() => createVariantSigner({ signedSecrets: one, publicSecrets: [] }), /at least one secret/);
});

test("URLs made within one hour share an expiry 25 hours after the hour began", () => {
  assert.equal(getSignedExpirySec(1_800_000_000), 1_800_090_000);
  assert.equal(getSignedExpirySec(1_800_003_599), 1_800_090_000);
  assert.equal(getSignedExpirySec(1_800_003_600), 1_800_093_600);
});
