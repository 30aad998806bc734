import assert from "node:assert/strict";
import { it } from "node:test";
import { preferredFormat } from "./accept.ts";

const cases: [accept: string | null, format: ReturnType<typeof preferredFormat>][] = [
  ["application/json, text/event-stream", "json"],
  ["application/json,text/event-stream", "json"],
  ["text/event-stream, application/json", "events"],
  ["application/json", "json"],
  ["Application/JSON; charset=utf-8", "json"],
  ["text/event-stream", "events"],
  [null, "json"],
  ["*/*", "json"],
  ["application/*", "json"],
  ["text/*", "events"],
  ["text/event-stream, */*", "events"],
  ["application/json, */*", "json"],
  ["text/event-stream;q=0.1, application/json", "json"],
  ["application/json;q=0.5, text/event-stream;q=0.9", "events"],
  ["application/json;q=0, */*", "events"],
  ["text/event-stream;q=0, application/json;q=0", null],
  ["text/html", null],
  ["", null],
  ["application/json;q=high, text/event-stream", "events"],
];
for (const [accept, format] of cases) {
  it(`answers ${JSON.stringify(accept)} with ${format ?? "406"}`, () => {
    assert.equal(preferredFormat(accept), format);
  });
}
