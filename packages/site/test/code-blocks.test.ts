import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse as parseYaml } from "yaml";
import { compileSources } from "./support/compile-blocks.ts";
import { type CodeBlock, docFiles, listBlocks, readDoc } from "./support/doc-files.ts";
import { fillGenerated } from "./support/generated-blocks.ts";

const blocks = docFiles.flatMap(listBlocks);
const ofLanguage = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language));
const placeOf = ({ file, line }: CodeBlock) => `${file}:${line}`;

/** Every page is a folder of its own, in which its blocks lie where their first line says. */
function pathOf(block: CodeBlock): string {
  const folder = block.file.replaceAll("/", "_").replace(/\.md$/, "");
  if (block.language === "svelte") return join(folder, `src/routes/block-${block.line}.ts`);
  return join(folder, block.path ?? `block-${block.line}.${block.language}`);
}

const scriptOf = ({ language, code }: CodeBlock) =>
  language === "svelte" ? (/<script lang="ts">\n([\s\S]*?)<\/script>/.exec(code)?.[1] ?? "") : code;

describe("the code in the documentation", () => {
  it("is in a language that is checked, or is named as one that is not", () => {
    const checked = ["ts", "tsx", "svelte", "js", "sh", "json", "yaml"];
    const unchecked = ["", "ini", "css", "html", "nginx", "caddyfile", "xml", "python", "swift", "sql"];
    for (const block of blocks)
      assert.ok([...checked, ...unchecked].includes(block.language), `${placeOf(block)} ${block.language}`);
    assert.ok(ofLanguage("ts", "tsx").length > 30);
  });

  it("compiles against the packages", async () => {
    // A page that registers a router is a program by itself: what it registers counts for all of one.
    const programs = new Map<string, Map<string, string>>();
    const shown = ofLanguage("ts", "tsx", "svelte");
    const registering = shown
      .filter(({ code }) => code.includes("interface Register"))
      .map(({ file }) => file);
    for (const block of shown) {
      const path = pathOf(block);
      const program = registering.includes(block.file) ? block.file : "all others";
      const sources = programs.get(program) ?? new Map<string, string>();
      assert.ok(!sources.has(path), `${placeOf(block)} has the path of another block`);
      programs.set(program, sources.set(path, scriptOf(block)));
    }
    assert.ok(programs.size > 1);
    for (const sources of programs.values()) assert.equal(await compileSources(sources), "");
  });

  it("is valid JavaScript, shell, JSON and YAML", () => {
    for (const block of ofLanguage("js")) {
      const { stderr } = spawnSync(process.execPath, ["--check", "--input-type=module", "-"], {
        input: block.code,
        encoding: "utf8",
      });
      assert.equal(stderr, "", placeOf(block));
    }
    for (const block of ofLanguage("sh")) {
      // Placeholders such as <zone id> stand where a shell would redirect.
      const input = block.code.replaceAll(/<([\w ]+)>/g, "$1");
      const { stderr } = spawnSync("bash", ["-n"], { input, encoding: "utf8" });
      assert.equal(stderr, "", placeOf(block));
    }
    for (const block of ofLanguage("json")) assert.doesNotThrow(() => JSON.parse(block.code), placeOf(block));
    for (const block of ofLanguage("yaml")) assert.doesNotThrow(() => parseYaml(block.code), placeOf(block));
  });

  it("is what the templates and tables of the code give today", () => {
    const command = "npx node packages/site/test/write-generated.ts";
    for (const file of docFiles) {
      const markdown = readDoc(file);
      assert.equal(markdown, fillGenerated(markdown, { keepsFigures: true }), `${file}: ${command}`);
    }
  });
});
