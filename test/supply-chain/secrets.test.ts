import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createApiKeySecret, isApiKey } from "../../packages/server/src/kernel/security/api-key-secret.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Pattern {
  name: string;
  find: RegExp;
  /** Tells a real one from an example. */
  isReal?: (text: string) => boolean;
}

const hasVariety = (text: string): boolean => new Set(text).size > 12;

const patterns: Pattern[] = [
  { name: "an Upstow key", find: /svc_(?:live|test)_[0-9A-Za-z]{38}/g, isReal: isApiKey },
  { name: "a private key", find: /-----BEGIN (?:\w+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/=\s]{100}/g },
  { name: "an AWS key", find: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, isReal: (text) => !text.endsWith("EXAMPLE") },
  { name: "a GitHub token", find: /\bgh[pousr]_[0-9A-Za-z]{36}\b/g },
  { name: "an npm token", find: /\bnpm_[0-9A-Za-z]{36}\b/g },
  { name: "a Slack token", find: /\bxox[abprs]-[0-9A-Za-z-]{20,}/g },
  { name: "a Google key", find: /\bAIza[0-9A-Za-z_-]{35}\b/g },
  { name: "a Stripe key", find: /\b[sr]k_live_[0-9A-Za-z]{20,}/g },
  {
    name: "a password in a URL",
    find: /\b(?:postgres|redis|https?):\/\/[\w.-]+:[^\s:@/$"'`<>{}]{12,}@/g,
    isReal: hasVariety,
  },
];

function findSecrets(text: string): string[] {
  return patterns.flatMap(({ name, find, isReal = () => true }) =>
    [...text.matchAll(find)]
      .filter(([match]) => isReal(match))
      .map(([match]) => `${name}: ${match.slice(0, 14)}…`),
  );
}

/** Certificates that expire or do not fit, made for tests and trusted by nobody. */
const madeForTests = ["packages/server/src/ops/doctor/check-tls.test.ts"];

test("no file that is kept holds a secret", () => {
  const listed = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  const files = listed
    .split("\0")
    .filter(
      (path) =>
        path !== "" && !madeForTests.includes(path) && !/\.(png|jpe?g|webp|avif|gif|ico|woff2?)$/.test(path),
    );
  assert.ok(files.length > 300);
  const found = files.flatMap((path) => findSecrets(readIfThere(path)).map((secret) => `${path}: ${secret}`));
  assert.deepEqual(found, []);
});

/** A file may be removed and not yet be committed. */
function readIfThere(path: string): string {
  try {
    return readFileSync(`${root}/${path}`, "utf8");
  } catch {
    return "";
  }
}

test("what it looks for is found", () => {
  const tokens = [
    createApiKeySecret("live").secret,
    ["-----BEGIN PRIVATE", " KEY-----\n", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(4)].join(""),
    ["AKIA", "IOSFODNN7ABCDEFG"].join(""),
    ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].join(""),
    ["postgres://upstow:", "fo3Kq9zPx1LmVt@db/upstow"].join(""),
  ];
  for (const token of tokens) assert.equal(findSecrets(`x = "${token}"`).length, 1, token);
  assert.deepEqual(findSecrets("svc_live_Ab3d… AKIAIOSFODNN7EXAMPLE postgres://user:password@host"), []);
});
