import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzRenders } from "./fuzz-renders.ts";
import { createRenderPool } from "./render-pool.ts";

test("300 damaged images: each is rendered or refused, and the workers live on", async (t) => {
  const pool = createRenderPool({
    size: 2,
    queueLimit: 8,
    deadlineMs: 60_000,
    giveUpMs: 90_000,
    maxRssBytes: 512 * 1024 * 1024,
    maxJobs: 1000,
  });
  t.after(() => pool.close());
  const { outcomes, workersSeen, failures } = await fuzzRenders(pool, {
    count: 300,
    seed: 20_260_101,
    lanes: 4,
  });
  assert.deepEqual(failures, []);
  assert.equal(workersSeen, 2);
  // Damage that is always refused, or never, would test nothing.
  assert.ok(outcomes.ok > 20 && outcomes.unprocessable > 20, JSON.stringify(outcomes));
});
