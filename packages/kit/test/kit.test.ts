import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { listFonts, readKitStyles } from "@upstow/kit";
import packageJson from "../package.json" with { type: "json" };
import { drawIcons, listIcons } from "./support/lucide.ts";

const styles = readKitStyles();
const themes = ["light", "dark"] as const;

/** A colour of the tokens in one theme. */
function colour(name: string, theme: (typeof themes)[number]): string {
  const pair = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\);`).exec(styles);
  assert.ok(pair, `--${name}`);
  return (theme === "light" ? pair[1] : pair[2]) ?? "";
}

function luminance(hex: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const texts = ["text", "dim", "accent", "good", "warn", "bad"];
const code = ["keyword", "string", "name", "type", "comment", "sign"].map((name) => `code-${name}`);
/** Which colours are written on which grounds, and the least contrast that WCAG 2.2 AA accepts there. */
const pairs: [grounds: string[], inks: string[], least: number][] = [
  [["bg", "panel", "chip", "raised", "hover"], texts, 4.5],
  [["bg", "panel", "chip"], code, 4.5],
  [["accent"], ["accent-text"], 4.5],
  [["accent-hover"], ["accent-text"], 4.5],
  [["accent-soft"], ["accent", "text"], 4.5],
  ...["good", "warn", "bad"].map((name): (typeof pairs)[number] => [[`${name}-soft`], [name, "text"], 4.5]),
  // The edge of a field, and the ring around what is focused
  [["bg", "panel", "raised"], ["line-strong", "accent"], 3],
];

describe("the kit", () => {
  for (const theme of themes) {
    it(`has enough contrast in its ${theme} theme`, () => {
      for (const [grounds, inks, least] of pairs) {
        for (const ground of grounds) {
          for (const ink of inks) {
            const ratio = contrast(colour(ground, theme), colour(ink, theme));
            assert.ok(ratio >= least, `--${ink} on --${ground}: ${ratio.toFixed(2)}, needs ${least}`);
          }
        }
      }
    });
  }

  it("names fonts that its packages bring, under their version", () => {
    const fonts = listFonts();
    assert.ok(fonts.size >= 4);
    const versions = new Set(Object.values(packageJson.dependencies));
    for (const [url, file] of fonts) {
      assert.ok(existsSync(file), file);
      assert.ok(versions.has(url.split("/").at(-2) ?? ""), url);
    }
  });

  it("draws icons as lucide does", () => {
    const source = readFileSync(new URL("../src/icons.ts", import.meta.url), "utf8");
    assert.equal(drawIcons(listIcons(source)), source);
  });

  it("uses no colour, duration or size that it does not define", () => {
    const defined = new Set([...styles.matchAll(/(--[\w-]+):/g)].map(([, name]) => name));
    for (const [, name] of styles.matchAll(/var\((--[\w-]+)\)/g)) assert.ok(defined.has(name), name);
  });
});
