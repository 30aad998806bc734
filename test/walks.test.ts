import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const source = (path: string) => fileURLToPath(new URL(`../packages/server/src/${path}`, import.meta.url));
const page = readFileSync(new URL("../docs/architecture.md", import.meta.url), "utf8");
const mostFiles = 12;
/** Put parts together and do nothing else. */
const composers = [
  "app.ts",
  "app/compose.ts",
  "storage/disk/disk-store.ts",
  "serving/images/transforms.ts",
  "serving/images/render/worker-crew.ts",
];

interface Step {
  path: string;
  functions: string[];
}

function readWalks(): { title: string; steps: Step[] }[] {
  const [, ...sections] = page.split(/^### /m);
  return sections.map((section) => ({
    title: section.split("\n", 1)[0] ?? "",
    steps: [...section.matchAll(/^\d+\. `([^`]+\.ts)`: (.+)$/gm)].map(([, path = "", rest = ""]) => ({
      path,
      functions: [...(rest.split(", through")[0] ?? "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
    })),
  }));
}

const walks = readWalks();

test("the page shows five walks", () => {
  assert.equal(walks.length, 5);
});

for (const { title, steps } of walks) {
  test(`${title}: every step exists, and earlier ones lead to it`, () => {
    assert.ok(steps.length >= 5 && steps.length <= mostFiles, `${steps.length} files`);
    const seen = composers.map((path) => readFileSync(source(path), "utf8"));
    for (const { path, functions } of steps) {
      assert.ok(existsSync(source(path)), `${path} exists`);
      const text = readFileSync(source(path), "utf8");
      seen.push(text);
      for (const name of functions) {
        assert.match(text, new RegExp(`function ${name}\\b`), `${path} has ${name}`);
        const uses = seen.join("\n").match(new RegExp(`(?<!function )\\b${name}\\b`, "g")) ?? [];
        assert.ok(uses.length > 0, `something leads to ${name} on the way to ${path}`);
      }
    }
  });
}
