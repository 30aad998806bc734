import assert from "node:assert/strict";
import { it } from "node:test";
import { fuzzImages } from "../../torture/fuzz-images.ts";
import { createRandom } from "../../torture/random.ts";

const images = 60;
const seed = 20_260_101;

// The long run: npm run torture -- fuzz-images
it(`${images} damaged images with seed ${seed} are rendered or refused, over HTTP`, async () => {
  const { counts, violations } = await fuzzImages({
    rounds: images,
    random: createRandom(seed),
    isTimeUp: () => false,
    onRound: () => {},
  });
  assert.deepEqual(violations, []);
  // Damage that is always refused, or never, would test nothing.
  for (const name of [
    "rendered",
    "rendered, larger than 128 KiB",
    "rejected as damaged (422)",
    "with facts",
    "without facts",
  ]) {
    assert.ok((counts[name] ?? 0) > 2, JSON.stringify(counts));
  }
});
