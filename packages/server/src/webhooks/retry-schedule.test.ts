import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseRetryAfter, retryDelayMs } from "./enqueue.ts";

const first = { retried: 0, allowed: 3, baseMs: 12_000, retryAfterMs: null, random: 0.5 };

describe("retryDelayMs", () => {
  it("waits 12 s, 148 s and 1,808 s, and then no more", () => {
    const delays = [0, 1, 2, 3].map((retried) => retryDelayMs({ ...first, retried }));
    assert.deepEqual(delays, [12_000, 148_000, 1_808_000, null]);
    assert.equal(retryDelayMs({ ...first, allowed: 0 }), null);
  });

  it("spreads by a fifth to either side", () => {
    assert.equal(retryDelayMs({ ...first, random: 0 }), 9_600);
    assert.equal(retryDelayMs({ ...first, random: 1 }), 14_400);
  });

  it("scales all three by the base", () => {
    const delays = [0, 1, 2].map((retried) => retryDelayMs({ ...first, retried, baseMs: 1_200 }));
    assert.deepEqual(delays, [1_200, 14_800, 180_800]);
  });

  it("honours Retry-After up to an hour and never hurries because of it", () => {
    assert.equal(retryDelayMs({ ...first, retryAfterMs: 60_000 }), 60_000);
    assert.equal(retryDelayMs({ ...first, retryAfterMs: 90_000_000 }), 3_600_000);
    assert.equal(retryDelayMs({ ...first, retryAfterMs: 0 }), 12_000);
    assert.equal(retryDelayMs({ ...first, retried: 3, retryAfterMs: 1_000 }), null);
  });
});

describe("parseRetryAfter", () => {
  const now = Date.parse("2030-01-01T00:00:00Z");
  it("reads seconds and HTTP dates", () => {
    assert.equal(parseRetryAfter("120", now), 120_000);
    assert.equal(parseRetryAfter("Tue, 01 Jan 2030 00:01:00 GMT", now), 60_000);
    assert.equal(parseRetryAfter("Tue, 01 Jan 2019 00:01:00 GMT", now), 0);
  });
  it("ignores what is neither", () => {
    for (const value of [undefined, "", "soon", "-5", "1.5", "99999999999", "2030-01-01"]) {
      assert.equal(parseRetryAfter(value, now), null, String(value));
    }
  });
});
