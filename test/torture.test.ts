import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { killEvents } from "../torture/kill-events.ts";
import { killUploads } from "../torture/kill-uploads.ts";
import { createRandom } from "../torture/random.ts";

const rounds = 3;

describe("a few rounds of torture", () => {
  for (const [name, scenario] of Object.entries({ killUploads, killEvents })) {
    it(`${name} finds no promise broken`, async () => {
      let done = 0;
      const onRound = () => {
        done++;
      };
      const { counts, violations } = await scenario({ rounds, random: createRandom(1), onRound });
      assert.deepEqual(violations, []);
      assert.equal(done, rounds);
      assert.ok((counts["completions acknowledged"] ?? 0) > 0);
    });
  }
});
