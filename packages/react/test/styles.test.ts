import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { catalogue } from "../src/catalogue/index.ts";

const folder = new URL("../src/styles/", import.meta.url);
const sheets = readdirSync(folder)
  .filter((name) => name !== "index.css")
  .map((name) => ({ name, css: readFileSync(new URL(name, folder), "utf8") }));

/** Every selector of a sheet, one by one; at-rules and the steps of animations left out. */
function listSelectors(css: string): string[] {
  const bare = css
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/@keyframes [^{]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, "");
  const heads = [...bare.matchAll(/([^{};]+)\{/g)].map(([, head = ""]) => head.trim());
  return heads.filter((head) => !head.startsWith("@")).flatMap(splitList);
}

/** At the commas that are in no brackets. */
function splitList(head: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const letter of head) {
    if (letter === "(") depth++;
    if (letter === ")") depth--;
    if (letter === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim());
}

/** What a sheet says outside of its layer. */
const outsideOfLayer = (css: string) => css.replace(/^@layer components\.upstow \{\n[\s\S]*?^\}\n/m, "");

/** Without what counts nothing. */
function weigh(selector: string): number {
  let rest = selector;
  for (let before = ""; before !== rest; ) {
    before = rest;
    rest = rest.replaceAll(/:(where)\((?:[^()]|\([^()]*\))*\)/g, "");
  }
  return (rest.match(/\.[\w-]+|\[[^\]]+\]|(?<!:):[\w-]+/g) ?? []).length;
}

describe("style sheets", () => {
  it("touch nothing outside the components", () => {
    for (const { name, css } of sheets) {
      for (const selector of listSelectors(css))
        assert.match(selector, /\.us-[\w-]+|\[class\^="us-"\]/, `${name}: ${selector}`);
      const own = [...css.matchAll(/@keyframes ([\w-]+)/g)].map(([, frames]) => frames ?? "");
      assert.ok(
        own.every((frames) => frames.startsWith("us-")),
        name,
      );
      assert.doesNotMatch(css, /^\s*(--(?!us-|_))/m, `${name} sets a variable that is not its own`);
    }
  });

  it("lie in a layer below Tailwind's utilities, and count one class each", () => {
    for (const { name, css } of sheets) {
      const outside = outsideOfLayer(css)
        .replaceAll(/\/\*[\s\S]*?\*\//g, "")
        .trim();
      if (name !== "base.css") assert.equal(outside, "", name);
      for (const selector of listSelectors(css.replace(outside, "")))
        if (!selector.startsWith("html body")) assert.equal(weigh(selector), 1, `${name}: ${selector}`);
    }
  });

  it("say nothing outside of it but the order of layers and what keeps resets out", () => {
    const base = sheets.find(({ name }) => name === "base.css")?.css ?? "";
    const outside = outsideOfLayer(base).replaceAll(/\/\*[\s\S]*?\*\//g, "");
    assert.deepEqual(
      outside
        .split(/\n\n+/)
        .map((part) => part.replaceAll(/\s+/g, " ").trim())
        .filter(Boolean),
      [
        "@layer theme, base, components, utilities;",
        'html body :where([class^="us-"], [class*=" us-"]) { all: revert-layer; }',
      ],
    );
  });

  it("have one dark palette, however dark is asked for, and nothing bundlers rewrite", () => {
    const base = sheets.find(({ name }) => name === "base.css")?.css ?? "";
    const dark = [...base.matchAll(/\{\s*color-scheme: dark;([^}]*)\}/g)].map(([, tokens = ""]) =>
      tokens.replaceAll(/\s+/g, " "),
    );
    assert.equal(dark.length, 2);
    assert.equal(dark[0], dark[1]);
    for (const { name, css } of sheets) assert.doesNotMatch(css, /light-dark\(/, name);
  });

  it("follow the direction of the text", () => {
    const physical =
      /^\s*(margin|padding|border)-(left|right)|^\s*(left|right|text-align: (left|right)|float)\b/m;
    for (const { name, css } of sheets) assert.doesNotMatch(css, physical, name);
  });

  it("move only where motion is welcome", () => {
    for (const { name, css } of sheets) {
      const still = css
        .replaceAll(/@keyframes [^{]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, "")
        .replaceAll(/@media \(prefers-reduced-motion: no-preference\) \{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, "");
      // Confetti is not even drawn where it is unwelcome.
      if (name !== "motion-celebrate.css") assert.doesNotMatch(still, /animation:|transition:/, name);
    }
  });

  it("belong to components", () => {
    const known = new Set(["base.css", ...catalogue.map(({ slug }) => `${slug}.css`)]);
    for (const { name } of sheets) assert.ok(known.has(name), name);
  });
});
