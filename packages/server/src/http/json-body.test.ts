import assert from "node:assert/strict";
import { it } from "node:test";
import { BODY_MAX_DEPTH, BODY_MAX_KEYS, BODY_MAX_VALUES, PARTS_MAX } from "@upstow/contract";
import { parseJson } from "./json-body.ts";

it("refuses whole numbers that no JSON number keeps, and none that are kept or stand in a text", () => {
  for (const number of ["12345678901234567", "-9223372036854775807", "100000000000000000000001"])
    assert.throws(
      () => parseJson(`{"a":["\\\\",${number}]}`),
      {
        message: /has -?\d+, which JSON numbers cannot represent exactly; send it as a string/,
        suggestion: `Put it in quotes, for example "metadata": { "orderId": "${number}" }.`,
      },
      number,
    );
  const kept = [
    "9007199254740992",
    "-0",
    "949043979744122200",
    "1000000000000000000000",
    "0.12345678901234567",
    "12345678901234567e-3",
  ];
  for (const number of kept) assert.doesNotThrow(() => parseJson(`[${number},1234567890123456]`), number);
  const texts = { "12345678901234567": '\\"12345678901234567,\\\\' };
  assert.deepEqual(parseJson(JSON.stringify(texts)), texts);
});

it("takes no escaped key for another that was read before, and every escape for what it stands for", () => {
  for (const [seen, escaped, key] of [
    ["\\u", "\\u0041a", "Aa"],
    ["\\u00", "\\u00e9abc", "éabc"],
    ["a\\/", "a\\/b", "a/b"],
  ] as const) {
    parseJson(`{"before ${key}":1,${JSON.stringify(seen)}:2}`);
    const expected = { [`before ${key}`]: 1, [key]: 2 };
    assert.deepEqual(parseJson(`{"before ${key}":1,"${escaped}":2}`), expected);
  }
  const texts =
    '["\\\\u0041\\/", "\\\\\\u0041", "\\u0022\\u005C\\u005c\\u001f\\u0008\\n", "\\ud83d\\uDE00\\u2028"]';
  assert.deepEqual(parseJson(texts), JSON.parse(texts));
  assert.throws(() => parseJson('{"a":\\u0031}'), /not valid JSON/);
});

it("hands no value to a callback: for a body of many values that takes everybody's time", (t) => {
  const parse = t.mock.method(JSON, "parse");
  parseJson('["\\u0041", 1234567890123456]');
  assert.ok(parse.mock.calls.every((call) => call.arguments.length === 1));
});

it("refuses what takes long to parse before it parses anything", (t) => {
  const parse = t.mock.method(JSON, "parse");
  const shapes: [string, RegExp][] = [
    ["[".repeat(BODY_MAX_DEPTH + 1), /nested deeper than 100/],
    [`{${'"a":1,'.repeat(BODY_MAX_KEYS + 1)}"b":2}`, /more than 30000 keys/],
    [`[${"1,".repeat(BODY_MAX_VALUES + 1)}1]`, /more than 60000 values/],
  ];
  for (const [text, message] of shapes) assert.throws(() => parseJson(text), message);
  assert.equal(parse.mock.callCount(), 0);
});

it("takes the parts of the largest multipart upload, and brackets and commas in strings", () => {
  const parts = Array.from({ length: PARTS_MAX }, (_, i) => ({ partNumber: i + 1, etag: `"${i}"` }));
  assert.deepEqual(parseJson(JSON.stringify({ parts })), { parts });
  const text = { text: "[{,:".repeat(100_000) };
  assert.deepEqual(parseJson(JSON.stringify(text)), text);
});

it("leaves a string that never ends to the parser", () => {
  for (const text of ['"', '{"a', '{"a\\"', '["a",1,"'])
    assert.throws(() => parseJson(text), /not valid JSON/, text);
});
