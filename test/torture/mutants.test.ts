import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { maskSource } from "../../mutation/mask.ts";
import { listMutants } from "../../mutation/mutants.ts";
import { targets } from "../../mutation/targets.ts";

const root = new URL("../../", import.meta.url);
const apply = (source: string) =>
  listMutants(source).map(({ start, end, text }) => source.slice(0, start) + text + source.slice(end));

test("strings, comments and types are not mutated", () => {
  const source = 'const a: Map<string, true> = b; // x === y\nconst c = "a && b";';
  assert.equal(maskSource(source).length, source.length);
  assert.deepEqual(listMutants(source), []);
});

test("every operator, condition, guard and step gives its mutants", () => {
  assert.deepEqual(apply("x = a === b;"), ["x = a !== b;"]);
  assert.deepEqual(apply("x = a + b;"), ["x = a - b;"]);
  assert.deepEqual(apply("if (a(b)) c = 1;"), ["if (true) c = 1;", "if (false) c = 1;"]);
  assert.deepEqual(apply('q.where("a", "=", p.a).where("b", "=", f(1))'), [
    'q.where("b", "=", f(1))',
    'q.where("a", "=", p.a)',
  ]);
  assert.deepEqual(apply("async () => {\n  await save(a);\n}"), ["async () => {\n  ;\n}"]);
});

test("the targets and their tests are there, and have mutants", () => {
  for (const { file, tests } of targets) {
    for (const path of [file, ...tests]) assert.ok(existsSync(new URL(path, root)), path);
    assert.ok(listMutants(readFileSync(new URL(file, root), "utf8")).length > 0, file);
  }
});
