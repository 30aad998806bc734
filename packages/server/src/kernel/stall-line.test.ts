import assert from "node:assert/strict";
import { it } from "node:test";
import { describeStall } from "./event-loop-guard.ts";

it("names first what started right before the stall, not what has been open for long", () => {
  const { message, fields } = describeStall({
    stalledMs: 812.4,
    cpuMs: 800,
    running: [
      { name: "GET /f/*", requestId: "download", ms: 90_000 },
      { name: "POST /api/v1/upload/request", requestId: "before it", ms: 3 },
      { name: "GET /dashboard/api/files", requestId: "culprit", ms: 815 },
    ],
  });
  assert.equal(
    message,
    "event loop stalled for 812 ms (busy) while handling GET /dashboard/api/files, GET /f/*, 1 more request or job",
  );
  assert.deepEqual(
    fields.running.map(({ requestId }) => requestId),
    ["culprit", "download"],
  );
});

it("says so when many short requests filled the time together", () => {
  const running = Array.from({ length: 300 }, () => ({ name: "GET /f/*", ms: 2 }));
  const { message, fields } = describeStall({ stalledMs: 300, cpuMs: 290, running });
  assert.equal(message, "event loop stalled for 300 ms (busy) while handling 300 short requests and jobs");
  assert.deepEqual(fields.running, []);
});

it("names five at most", () => {
  const running = Array.from({ length: 8 }, (_, i) => ({ name: `GET /${i}`, ms: 500 - i }));
  const { message } = describeStall({ stalledMs: 300, cpuMs: 290, running });
  assert.match(
    message,
    /while handling GET \/7, GET \/6, GET \/5, GET \/4, GET \/3, 3 more requests and jobs$/,
  );
});
