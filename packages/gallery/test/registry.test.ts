import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { catalogue } from "@upstow/react/catalogue";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";

const folder = fileURLToPath(new URL("../", import.meta.url));

interface Item {
  name: string;
  type: string;
  dependencies: string[];
  files: { path: string; type: string; target?: string; content?: string }[];
}

describe("the shadcn registry", () => {
  let app: TestApp;
  before(async () => {
    if (!existsSync(join(folder, "dist/manifest.json")))
      spawnSync(process.execPath, [join(folder, "build.mjs")]);
    app = await startApp({ database: "sqlite" });
  });
  after(() => app?.close());

  const getItem = async (slug: string): Promise<Item> => (await app.call("GET", `/r/${slug}.json`)).body;

  it("lists every component without its source", async () => {
    const { status, body } = await app.call("GET", "/r/registry.json");
    assert.equal(status, 200);
    assert.equal(body.$schema, "https://ui.shadcn.com/schema/registry.json");
    assert.deepEqual(
      body.items.map(({ name }: Item) => name),
      catalogue.map(({ slug }) => slug),
    );
    assert.ok(body.items.every(({ files }: Item) => files.every((file) => file.content === undefined)));
    assert.equal((await app.call("GET", "/r/nothing.json")).status, 404);
  });

  it("hands out items of the shape that the command reads", async () => {
    for (const { slug } of catalogue) {
      const item = await getItem(slug);
      assert.equal(item.name, slug);
      assert.equal(item.type, "registry:component");
      assert.deepEqual(item.dependencies, ["@upstow/react"]);
      for (const file of item.files) {
        assert.ok(file.path.startsWith("components/upstow/"), file.path);
        assert.ok((file.content ?? "").length > 0, file.path);
        // The command refuses files of this type that do not say where they belong.
        if (file.type === "registry:file") assert.equal(file.target, file.path);
        else assert.equal(file.type, "registry:component");
        assert.doesNotMatch(file.content ?? "", /from "\.\.|\.tsx?"/, file.path);
      }
    }
  });

  it("leaves projects that compile", async () => {
    await mkdir(join(folder, "dist"), { recursive: true });
    const project = await mkdtemp(join(folder, "dist/project-"));
    try {
      const paths = new Set<string>();
      for (const { slug } of catalogue) {
        for (const { path, content = "" } of (await getItem(slug)).files) {
          await mkdir(dirname(join(project, path)), { recursive: true });
          await writeFile(join(project, path), content);
          if (/\.tsx?$/.test(path)) paths.add(path);
        }
      }
      await writeFile(join(project, "css.d.ts"), 'declare module "*.css";\n');
      const config = {
        compilerOptions: {
          jsx: "react-jsx",
          module: "esnext",
          moduleResolution: "bundler",
          allowImportingTsExtensions: true,
          strict: true,
          noEmit: true,
          skipLibCheck: true,
          types: [],
          lib: ["es2024", "dom", "dom.iterable"],
        },
        files: [...paths, "css.d.ts"],
      };
      await writeFile(join(project, "tsconfig.json"), JSON.stringify(config));
      const tsc = fileURLToPath(new URL("../../../node_modules/.bin/tsc", import.meta.url));
      assert.equal(spawnSync(tsc, ["-p", project, "--singleThreaded"], { encoding: "utf8" }).stdout, "");
    } finally {
      await rm(project, { recursive: true });
    }
  });
});
