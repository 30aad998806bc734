import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { findTypeProblems } from "../../../test/support/check-types.ts";
import { packedPackage } from "../../../test/support/packed-package.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { createDelivery, expectedOfDrive } from "./support/application-code.ts";
import { edgeRuntimes } from "./support/edge-runtimes.ts";
import { runtimes, scriptFor } from "./support/runtimes.ts";

const run = promisify(execFile);
const modules = join(import.meta.dirname, "../../../node_modules");

describe("the published package", () => {
  let folder: string;
  let project: string;
  let app: TestApp;
  const built = () => join(project, "node_modules/@upstow/sdk");
  /** A project of its own for every runtime. */
  async function createSettings() {
    return { UPSTOW_API_KEY: (await app.createTenant("pro")).live, UPSTOW_URL: app.url };
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "upstow-package-"));
    project = await mkdtemp(join(folder, "project-"));
    await writeFile(join(project, "package.json"), '{ "type": "module", "private": true }');
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", packedPackage("sdk")], {
      cwd: project,
    });
    app = await startApp({ database: "sqlite" });
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  it("needs nothing else, and holds neither tests nor sources", async () => {
    const manifest = JSON.parse(await readFile(join(built(), "package.json"), "utf8"));
    for (const field of ["dependencies", "peerDependencies", "private", "scripts"]) {
      assert.equal(field in manifest, false, field);
    }
    const files = await readdir(built(), { recursive: true });
    assert.ok(files.includes("README.md"));
    const strange = files.filter((file) => /\.test\.|(?<!\.d)\.ts$/.test(file));
    assert.deepEqual(strange, []);
    for (const file of files.filter((name) => name.endsWith(".d.ts"))) {
      const text = await readFile(join(built(), file), "utf8");
      assert.doesNotMatch(text, /@upstow\/contract|typebox|\.ts"/, file);
    }
  });

  it("passes publint", async () => {
    const { messages, pkg } = await publint({ pkgDir: built(), strict: true });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
  });

  it("has types that every resolver finds", async () => {
    const problems = await findTypeProblems(packedPackage("sdk"));
    // Browsers and SvelteKit have no CommonJS.
    assert.deepEqual(
      problems.map(({ entrypoint, resolutionKind, kind }) => [entrypoint, resolutionKind, kind]),
      [
        ["./client", "node16-cjs", "CJSResolvesToESM"],
        ["./strip-metadata", "node16-cjs", "CJSResolvesToESM"],
        ["./sveltekit", "node16-cjs", "CJSResolvesToESM"],
      ],
    );
  });

  describe("in a project of CommonJS", () => {
    const entries = [
      "",
      "/images",
      "/next-image",
      "/nuxt-image",
      "/unpic",
      "/server",
      "/next",
      "/express",
      "/fastify",
      "/hono",
      "/webhooks",
    ];
    const specifiers = entries.map((entry) => `@upstow/sdk${entry}`);

    it("is required with all that it has, and is one with what is imported", async () => {
      const script = `(async () => {
        for (const name of ${JSON.stringify(specifiers)}) {
          const [required, imported] = [require(name), await import(name)];
          for (const key of Object.keys(imported)) {
            if (key !== "module.exports" && required[key] !== imported[key]) throw new Error(name + " " + key);
          }
        }
      })()`;
      await writeFile(join(project, "require.cjs"), script);
      await run(process.execPath, ["require.cjs"], { cwd: project });
    });

    it("is required where modules cannot be", async () => {
      const script = `for (const name of ${JSON.stringify(specifiers)}) {
          if (Object.values(require(name)).some((value) => value === undefined)) throw new Error(name);
        }
        const { createFileRouter, createRouteHandler, UpstowAuthError } = require("@upstow/sdk/server");
        const route = createFileRouter();
        const handle = createRouteHandler({
          router: { any: route({ middleware: () => { throw new UpstowAuthError("Sign in first."); } }) },
        });
        const body = JSON.stringify({ action: "begin", route: "any", files: [{ name: "a", size: 1, type: "a/b" }] });
        handle(new Request("http://site/", { method: "POST", body, headers: { "content-type": "application/json" } }))
          .then((answer) => console.log(answer.status));`;
      await writeFile(join(project, "without-modules.cjs"), script);
      const env = { ...process.env, UPSTOW_API_KEY: "svc_test_any", UPSTOW_URL: app.url };
      const args = ["--no-experimental-require-module", "without-modules.cjs"];
      const { stdout } = await run(process.execPath, args, { cwd: project, env });
      assert.equal(stdout.trim(), "401", "an error is known by its class");
    });

    it("compiles as node16", async () => {
      const imports = specifiers.map((name, i) => `import * as entry${i} from "${name}";\nentry${i};\n`);
      await writeFile(join(project, "code.cts"), imports.join(""));
      const compilerOptions = {
        ...{ module: "node16", target: "es2022", lib: ["es2022", "dom", "dom.iterable"], types: [] },
        ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
      };
      const config = JSON.stringify({ compilerOptions, files: ["code.cts"] });
      await writeFile(join(project, "tsconfig.json"), config);
      const compile = run(process.execPath, [join(modules, "typescript/bin/tsc"), "-p", project]);
      await compile.catch((error) => assert.fail(error.stdout));
    });
  });

  for (const runtime of runtimes) {
    it(`works in a fresh project on ${runtime.name}`, async () => {
      const script = `on-${runtime.name}.js`;
      await writeFile(join(project, script), scriptFor(runtime));
      const env = {
        ...process.env,
        ...(await createSettings()),
        DENO_DIR: folder,
        DELIVERY: JSON.stringify(createDelivery()),
      };
      const [program, ...args] = runtime.command();
      const { stdout } = await run(program, [...args, script], { cwd: project, env });
      const byPath = ["package.json", "application/json"];
      assert.deepEqual(JSON.parse(stdout), { byPath, ...expectedOfDrive });
    });
  }

  for (const runtime of edgeRuntimes) {
    it(`works in ${runtime.name}`, async () => {
      const server = await runtime.serve(project, await createSettings());
      try {
        const answer = await fetch(`${server.url}/drive`, {
          method: "POST",
          body: JSON.stringify(createDelivery()),
        });
        const text = await answer.text();
        assert.equal(answer.status, 200, text);
        assert.deepEqual(JSON.parse(text), expectedOfDrive);
      } finally {
        await server.stop();
      }
    });
  }

  it("has a README whose examples compile", async () => {
    const readme = await readFile(join(built(), "README.md"), "utf8");
    const examples = [...readme.matchAll(/```ts\n\/\/ (\S+)\n([\s\S]*?)```/g)];
    assert.equal(examples.length, 6);
    const folderOfExamples = await mkdtemp(join(project, "readme-"));
    for (const [, name = "", code = ""] of examples) await writeFile(join(folderOfExamples, name), code);
    await symlink(join(modules, "zod"), join(project, "node_modules/zod"));
    const compilerOptions = {
      module: "nodenext",
      target: "es2022",
      strict: true,
      noPropertyAccessFromIndexSignature: true,
      types: ["node"],
      typeRoots: [join(modules, "@types")],
      skipLibCheck: true,
      noEmit: true,
    };
    await writeFile(join(folderOfExamples, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    const compile = run(process.execPath, [join(modules, "typescript/bin/tsc"), "-p", folderOfExamples]);
    await compile.catch((error) => assert.fail(error.stdout));
  });

  it("compiles in a fresh project for browsers, without the types of Node", async () => {
    const code = `
      import { createUploader } from "@upstow/sdk/client";
      import { createUpstow, type FileObject } from "@upstow/sdk";
      import { createFileRouter, createRouteHandler, type FileRouter } from "@upstow/sdk/server";
      const f = createFileRouter();
      const router = { any: f({ onUploadComplete: ({ file }) => ({ size: file.size }) }) } satisfies FileRouter;
      export const handle: (request: Request) => Promise<Response> = createRouteHandler({ router });
      export async function go(file: File): Promise<[number | undefined, FileObject]> {
        const [stored] = await createUploader<typeof router>({ endpoint: "/" }).upload("any", file);
        return [stored?.result.size, await createUpstow().files.get(stored?.key ?? "")];
      }
      // @ts-expect-error the types are really there
      createUploader({ endpoint: 5 });
    `;
    await writeFile(join(project, "code.ts"), code);
    for (const module of ["nodenext", "esnext"]) {
      const config = {
        compilerOptions: {
          module,
          moduleResolution: module === "esnext" ? "bundler" : "nodenext",
          target: "es2022",
          lib: ["es2022", "dom", "dom.iterable"],
          types: [],
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: false,
          noEmit: true,
        },
        files: ["code.ts"],
      };
      await writeFile(join(project, "tsconfig.json"), JSON.stringify(config));
      const compile = run(process.execPath, [join(modules, "typescript/bin/tsc"), "-p", project]);
      await compile.catch((error) => assert.fail(error.stdout));
    }
  });
});
