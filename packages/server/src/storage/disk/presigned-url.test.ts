import assert from "node:assert/strict";
import { createHmac, createSecretKey } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { createUploadTokens, createUrlSigner, longestUrlSec, type UploadTarget } from "./presigned-url.ts";

const key = (text: string) => createSecretKey(Buffer.from(text));
const tokens = createUploadTokens([key("one")]);
/** Another instance with the same key. */
const verifier = createUploadTokens([key("one")]);

const targets: UploadTarget[] = [
  {
    kind: "single",
    key: "p/default/x/ünï .png",
    contentType: "image/png",
    sizeBytes: 12,
    expiresAt: 1_800_000_000_000,
  },
  {
    kind: "part",
    uploadId: "0123456789abcdefghjkmnpqrs",
    partNumber: 7,
    maxBytes: 99,
    expiresAt: 1_800_000_000_000,
  },
];

for (const target of targets) {
  test(`a ${target.kind} token says what was signed`, () => {
    assert.deepEqual(tokens.find(tokens.sign(target)), target);
    assert.deepEqual(verifier.find(tokens.sign(target)), target);
  });

  test(`a ${target.kind} token with any byte changed, added or left out is void`, () => {
    const token = tokens.sign(target);
    for (let i = 0; i < token.length; i++) {
      for (let flip = 1; flip < 128; flip++) {
        const changed =
          token.slice(0, i) + String.fromCharCode(token.charCodeAt(i) ^ flip) + token.slice(i + 1);
        assert.equal(tokens.find(changed), null, changed);
      }
      assert.equal(tokens.find(token.slice(0, i) + token.slice(i + 1)), null);
      assert.equal(tokens.find(`${token.slice(0, i)}A${token.slice(i)}`), null);
      // A character whose low byte is the right one must not pass for it.
      assert.equal(
        tokens.find(token.slice(0, i) + String.fromCharCode(token.charCodeAt(i) + 256) + token.slice(i + 1)),
        null,
      );
    }
  });
}

test("whatever the key and the type hold comes back as it was", () => {
  const texts = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(texts, texts, fc.nat(), (key, contentType, sizeBytes) => {
      const target: UploadTarget = {
        kind: "single",
        key,
        contentType,
        sizeBytes,
        expiresAt: 1_800_000_000_000,
      };
      assert.deepEqual(verifier.find(tokens.sign(target)), target);
    }),
  );
});

test("a field that holds a dot cannot stand for another one", () => {
  const target: UploadTarget = { kind: "part", uploadId: "mine.x", partNumber: 1, maxBytes: 9, expiresAt: 1 };
  assert.equal(tokens.find(tokens.sign(target)), null);
});

test("a genuine signature over something else than a body or a part allows nothing", () => {
  const sign = (facts: string) => {
    const signature = createHmac("sha256", key("one")).update(`PUT ${facts}`).digest("base64url");
    return tokens.find(`${facts}.${signature}`);
  };
  assert.deepEqual(sign("p.a.9.1.mine"), {
    kind: "part",
    expiresAt: 10,
    maxBytes: 9,
    partNumber: 1,
    uploadId: "mine",
  });
  assert.equal(sign("x.a.9.1.mine"), null);
});

test("nothing is signed without a key", () => {
  assert.throws(() => createUploadTokens([]), /needs a key/);
});

test("the first key signs and all of them verify", () => {
  const [target] = targets;
  assert.ok(target);
  const rotated = createUploadTokens([key("two"), key("one")]);
  assert.deepEqual(rotated.find(tokens.sign(target)), target);
  assert.deepEqual(rotated.find(rotated.sign(target)), target);
  assert.equal(tokens.find(rotated.sign(target)), null);
});

test("no URL outlives a tombstone", () => {
  const sign = createUrlSigner(
    tokens,
    () => "http://host/u/",
    () => 1000,
  );
  const target = { kind: "single", key: "k", contentType: "a/b", sizeBytes: 1 } as const;
  const url = sign(target, longestUrlSec);
  assert.ok(url.startsWith("http://host/u/s."));
  assert.equal(tokens.find(url.slice("http://host/u/".length))?.expiresAt, 604_801_000);
  assert.throws(() => sign(target, longestUrlSec + 1), RangeError);
  assert.equal(longestUrlSec, 604_800, "seven days");
});
