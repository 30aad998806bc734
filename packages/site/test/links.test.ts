import assert from "node:assert/strict";
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { docsFolder, openDocs } from "@upstow/mcp/docs";
import { renderMarkdown } from "@upstow/site/markdown";
import navigation from "../../../docs/navigation.json" with { type: "json" };
import { splitSections } from "../../mcp/src/docs/docs-library.ts";
import { docFiles, listBlocks, readDoc, root } from "./support/doc-files.ts";

/** Written when the service runs, so no file of a checkout. */
const isGenerated = (path: string) => /^docs\/reference\/(?:api|sdk|components)\//.test(path);
/** Pages and files of a running service. */
const isServed = (href: string) => href.startsWith("/");

function listLinks(markdown: string): string[] {
  const text = markdown.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, href]) => href ?? []);
}

const anchorsOf = (file: string) =>
  renderMarkdown(readDoc(file), file.replace(/^docs\/|\.md$/g, "")).headings.map(({ id }) => id);

const exampleReadmes = globSync("examples/{,*/}README.md", { cwd: root });

describe("the documentation", () => {
  it("runs scripts of the repository on the Node that comes with it: a reader's own may be older", () => {
    assert.equal(exampleReadmes.length, 5);
    for (const file of [...docFiles, ...exampleReadmes]) {
      const commands = listBlocks(file).flatMap(
        ({ code }) => code.match(/^node (packages|scripts)\/.*$/gm) ?? [],
      );
      assert.deepEqual(commands, [], file);
    }
  });

  it("links to files and headings that exist", () => {
    const files = [...docFiles, ...exampleReadmes, "AGENTS.md", ...globSync("docs/adr/*.md", { cwd: root })];
    const links = files.flatMap((file) =>
      listLinks(readDoc(file))
        .filter((href) => !/^[a-z]+:/.test(href) && !isServed(href))
        .map((href) => ({ file, href })),
    );
    assert.ok(links.length > 50);
    for (const { file, href } of links) {
      const [path = "", anchor] = href.split("#");
      const target = path === "" ? file : join(dirname(file), path);
      if (isGenerated(target)) continue;
      assert.ok(existsSync(join(root, target)), `${file} links to ${href}`);
      if (anchor !== undefined) assert.ok(anchorsOf(target).includes(anchor), `${file} links to ${href}`);
    }
  });

  it("is found by sections whose headings the site names alike", () => {
    for (const page of openDocs(null, "http://localhost:4000").pages) {
      const ids = renderMarkdown(page.markdown, page.path).headings.map(({ id }) => id);
      for (const { anchor } of splitSections(page))
        assert.ok(anchor === "" || ids.includes(anchor), `${page.path}#${anchor}`);
    }
  });

  it("has every page in its navigation, once", () => {
    const listed = navigation.flatMap(({ pages }) => pages);
    for (const file of globSync("**/*.md", { cwd: docsFolder, exclude: ["adr/**"] })) {
      const path = file.replace(/\.md$/, "");
      const isListed = listed.some(
        (name) => name === path || (name.endsWith("/*") && path.startsWith(name.slice(0, -1))),
      );
      assert.ok(isListed, `${file} is missing in docs/navigation.json`);
    }
    assert.equal(new Set(listed).size, listed.length);
    for (const name of listed.filter((path) => !path.endsWith("/*")))
      assert.ok(existsSync(`${docsFolder}${name}.md`), `docs/navigation.json names ${name}`);
  });

  it("begins every page with a title and a paragraph that says what it is about", () => {
    for (const file of docFiles.filter((name) => name.startsWith("docs/")))
      assert.match(readDoc(file), /^# .+\n\n[A-Z`<].+/, file);
  });
});
