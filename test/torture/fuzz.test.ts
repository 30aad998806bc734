import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { it } from "node:test";
import { onAnyDatabase } from "../../packages/server/test/support/start-app.ts";
import { fuzzDatabase } from "../../torture/fuzz/fuzz.ts";
import { createRandom } from "../../torture/random.ts";
import { isQuickRun } from "../support/quick-run.ts";

const requests = isQuickRun ? 250 : 500;

// The long run: npm run torture -- fuzz --requests 1000000
onAnyDatabase("the API under fuzzing", (database) => {
  const seed = randomInt(2 ** 31);
  it(`answers ${requests} requests with seed ${seed} as its own document says`, async () => {
    const { counts, violations } = await fuzzDatabase(database, {
      rounds: requests,
      random: createRandom(seed),
      isTimeUp: () => false,
      onRound: () => {},
    });
    assert.deepEqual(violations, []);
    assert.equal(counts[`requests on ${database}`], requests);
    assert.ok((counts["successful responses"] ?? 0) > requests / 10);
    for (const what of ["read with a right", "asked for without"])
      assert.ok((counts[`private files ${what}`] ?? 0) > 0, what);
    assert.ok((counts["pairs of unknown and foreign ids compared"] ?? 0) > requests);
  });
});
