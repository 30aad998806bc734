import assert from "node:assert/strict";
import { test } from "node:test";
import { isQuickRun } from "../../../../../test/support/quick-run.ts";
import { fuzzRenders } from "./fuzz-renders.ts";
import { openTestPool } from "./open-test-pool.ts";

const count = isQuickRun ? 100 : 300;

test(`${count} damaged images: each is described and rendered or refused, and the workers live on`, async (t) => {
  const pool = openTestPool({ size: 2, maxRssBytes: 512 * 1024 * 1024 });
  t.after(() => pool.close());
  const { outcomes, workersSeen, failures } = await fuzzRenders(pool, {
    count,
    seed: 20_260_101,
    lanes: 4,
  });
  assert.deepEqual(failures, []);
  // One more may run for a reader while images are described.
  assert.ok(workersSeen <= 3, String(workersSeen));
  // Damage that is always refused, or never, would test nothing.
  assert.ok(outcomes.ok > 10 && outcomes.unprocessable > 10, JSON.stringify(outcomes));
});
