import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { normalizeEmail } from "./accounts.ts";

describe("e-mail addresses", () => {
  it("have one spelling", () => {
    assert.equal(normalizeEmail("  Ann.B+tag@Example.COM\n"), "ann.b+tag@example.com");
    assert.equal(normalizeEmail("u\u0308ber@example.com"), "\u00fcber@example.com");
    assert.equal(normalizeEmail("root@localhost"), "root@localhost");
  });

  for (const text of [
    "",
    "ann",
    "@b.c",
    "a@",
    "a b@c.d",
    "a@b@c",
    "a@.b",
    "a@b..c",
    "a\u0000@b.c",
    `${"a".repeat(251)}@b.c`,
  ]) {
    it(`refuses ${JSON.stringify(text.slice(0, 20))}`, () => {
      assert.throws(() => normalizeEmail(text), { code: "VALIDATION_ERROR" });
    });
  }
});
