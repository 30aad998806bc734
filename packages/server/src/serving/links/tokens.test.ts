import assert from "node:assert/strict";
import { createHmac, createSecretKey } from "node:crypto";
import { test } from "node:test";
import {
  type GrantFacts,
  isGenuine,
  type LinkFacts,
  readGrant,
  readLink,
  type ScopeKind,
  type Shown,
  signGrant,
  signLink,
} from "./tokens.ts";

const keyOf = (text: string) => createSecretKey(Buffer.from(text));
const [current, next] = [keyOf("rdk_current"), keyOf("rdk_next")];
const signedAt = 1_800_000_000_000;
const mostSec = 100;
const fileId = "01hzzzzzzzzzzzzzzzzzzzzzzz";
const countedId = "01hyyyyyyyyyyyyyyyyyyyyyyy";
const link: LinkFacts = {
  signedAt,
  expiresAt: signedAt + mostSec * 1000,
  fileId,
  shown: "inline",
  countedId: null,
};
const grant: GrantFacts = {
  signedAt,
  expiresAt: link.expiresAt,
  scope: { kind: "audience", value: "order:9" },
  subject: "änn",
};
const name = "a b.txt";
const token = signLink(current, link, name);
const grantToken = signGrant(current, grant);
const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("base64url");

test("signs the documented text with HMAC-SHA256 in base64url", () => {
  const times = `${signedAt.toString(36)}.${link.expiresAt.toString(36)}`;
  const text = `l1.${times}.${fileId}.i.`;
  assert.equal(token, `${text}.${hmac("rdk_current", `link\n${text}\n${name}`)}`);
  const scope = [grant.scope.value, grant.subject].map((part) => Buffer.from(part).toString("base64url"));
  const covered = `g1.${times}.a.${scope.join(".")}`;
  assert.equal(grantToken, `${covered}.${hmac("rdk_current", `grant\n${covered}`)}`);
});

test("reads what it has signed", () => {
  for (const shown of ["inline", "download", "named"] satisfies Shown[])
    for (const counted of [null, countedId]) {
      const facts = { ...link, shown, countedId: counted };
      const claim = readLink(signLink(current, facts, name), name);
      assert.deepEqual(claim?.facts, facts);
      assert.ok(claim && isGenuine(claim, [current], mostSec, signedAt));
    }
  for (const kind of ["route", "prefix", "audience"] satisfies ScopeKind[]) {
    const facts = { ...grant, scope: { kind, value: "a/ö" } };
    const claim = readGrant(signGrant(current, facts));
    assert.deepEqual(claim?.facts, facts);
    assert.ok(claim && isGenuine(claim, [current], mostSec, signedAt));
  }
});

test("gives every token and name an id of its own", () => {
  const ids = [readLink(token, name)?.id, readLink(token, "b")?.id, readGrant(grantToken)?.id];
  assert.equal(new Set(ids).size, 3);
});

const malformedLinks: Record<string, string> = {
  "nothing at all": "",
  "no dot": "l1",
  "another version": token.replace("l1", "l2"),
  "a grant": grantToken,
  "an id that is none": token.replace(fileId, "x"),
  "an unknown way to show it": token.replace(".i.", ".x."),
  "no way to show it": token.replace(".i.", ".."),
  "a counted id that is none": token.replace(".i.", ".i.x"),
  "a part too many": token.replace(".i.", ".i..x"),
};
for (const [what, text] of Object.entries(malformedLinks))
  test(`reads no link from ${what}`, () => assert.equal(readLink(text, name), null));

const malformedGrants: Record<string, string> = {
  "nothing at all": "",
  "another version": grantToken.replace("g1", "g2"),
  "a link": token,
  "an unknown scope": grantToken.replace(".a.", ".x."),
  "a part too many": grantToken.replace(/\.(?=[^.]*$)/, ".x."),
};
for (const [what, text] of Object.entries(malformedGrants))
  test(`reads no grant from ${what}`, () => assert.equal(readGrant(text), null));

const isLink = (text: string, keys = [current, next], now = signedAt, as = name) => {
  const claim = readLink(text, as);
  return claim !== null && isGenuine(claim, keys, mostSec, now);
};

test("believes either key, and none where there is none", () => {
  const later = signLink(next, link, name);
  assert.deepEqual([isLink(token), isLink(later)], [true, true]);
  assert.deepEqual(
    [isLink(token, [next]), isLink(later, [current]), isLink(token, [])],
    [false, false, false],
  );
});

test("believes no other text, name, signature or kind", () => {
  const last = token.at(-1) === "A" ? "B" : "A";
  for (const edited of [
    token.replace(fileId, countedId),
    token.replace(".i.", ".a."),
    token.replace(".i.", `.i.${countedId}`),
    `${token.slice(0, -1)}${last}`,
    token.slice(0, -1),
    `${token}=`,
    `${token}A`,
    token.slice(0, token.lastIndexOf(".") + 1),
    // Two letters for one, of the same length as the signature.
    `${token.slice(0, -2)}ä`,
    `${token.slice(0, -1)}ä`,
  ])
    assert.equal(isLink(edited), false, edited);
  assert.equal(isLink(token, [current], signedAt, "b"), false);
  const claim = readGrant(grantToken.replace(".a.", ".r."));
  assert.ok(claim && !isGenuine(claim, [current], mostSec, signedAt));
});

test("believes no life that is too long, and no signer more than a minute ahead", () => {
  const longer = { ...link, expiresAt: link.expiresAt + 1 };
  assert.equal(isLink(signLink(current, longer, name)), false);
  assert.equal(isLink(token, [current], signedAt - 60_000), true);
  assert.equal(isLink(token, [current], signedAt - 60_001), false);
});

test("takes times that cannot be read as long past", () => {
  const text = `l1.-1.${"z".repeat(11)}.${fileId}.i.`;
  const claim = readLink(`${text}.${hmac("rdk_current", `link\n${text}\n${name}`)}`, name);
  assert.deepEqual([claim?.facts.signedAt, claim?.facts.expiresAt], [0, 0]);
});
