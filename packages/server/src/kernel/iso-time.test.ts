import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { isoTime } from "./iso-time.ts";

it("says what Date says, in any order of days", () => {
  const times = fc.array(fc.integer({ min: 0, max: 4_102_444_800_000 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(times, fc.nat(2 * 86_400_000), (moments, apart) => {
      for (const time of moments.flatMap((moment) => [moment, moment + apart])) {
        assert.equal(isoTime(time), new Date(time).toISOString());
      }
    }),
    { numRuns: 2000 },
  );
});
