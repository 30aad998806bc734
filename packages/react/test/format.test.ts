import assert from "node:assert/strict";
import { it } from "node:test";
import { formatPercent } from "../src/core/format.ts";

it("percentages are written as in the reader's language, without decimals", () => {
  const written = ["en", "de", "ar-EG"].map((locale) => formatPercent(0.425, locale));
  assert.deepEqual(written, ["43%", "43\u00a0%", "٤٣٪\u061c"]);
  assert.equal(formatPercent(1, "en"), "100%");
});
