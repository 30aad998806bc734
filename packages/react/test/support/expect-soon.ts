import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

/** Asks again until the answer fits. The limit is there to end a hopeless wait, not to measure one. */
export async function expectSoon(
  ask: () => Promise<string | null>,
  wanted: RegExp,
  limitMs = 60_000,
): Promise<void> {
  const end = Date.now() + limitMs;
  for (;;) {
    const answer = (await ask()) ?? "";
    if (wanted.test(answer)) return;
    if (Date.now() > end) assert.match(answer, wanted);
    await wait(50);
  }
}
