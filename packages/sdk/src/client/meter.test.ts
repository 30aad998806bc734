import assert from "node:assert/strict";
import { it } from "node:test";
import { createMeter } from "./meter.ts";

it("measures the last seconds only, and never counts backwards", () => {
  let nowMs = 0;
  const meter = createMeter(() => nowMs);
  assert.equal(meter.bytesPerSec(), 0);
  for (; nowMs < 10_000; nowMs += 100) meter.add(1000);
  const speed = meter.bytesPerSec();
  assert.ok(speed > 9_000 && speed <= 10_000, String(speed));
  meter.add(-50_000);
  assert.ok(meter.bytesPerSec() > 9_000);
  nowMs += 6_000;
  assert.equal(meter.bytesPerSec(), 0);
});
