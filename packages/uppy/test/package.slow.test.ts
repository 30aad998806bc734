import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { packedPackage } from "../../../test/support/packed-package.ts";

const run = promisify(execFile);
const packages = join(import.meta.dirname, "../..");
const modules = join(packages, "../node_modules");

describe("the published package", () => {
  let folder: string;
  let project: string;
  const built = () => join(project, "node_modules/@upstow/uppy");

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "upstow-uppy-package-"));
    project = join(folder, "project");
    await mkdir(project);
    await writeFile(join(project, "package.json"), '{ "type": "module", "private": true }');
    const tarballs = [packedPackage("sdk"), packedPackage("uppy")];
    const install = ["install", "--offline", "--legacy-peer-deps", "--no-audit", "--no-fund", ...tarballs];
    await run("npm", install, { cwd: project });
    await symlink(join(modules, "@uppy"), join(project, "node_modules/@uppy"));
  });
  after(() => rm(folder, { recursive: true }));

  it("asks for Uppy and the SDK, and brings nothing", async () => {
    const manifest = JSON.parse(await readFile(join(built(), "package.json"), "utf8"));
    assert.deepEqual(Object.keys(manifest.peerDependencies), ["@uppy/core", "@upstow/sdk"]);
    for (const field of ["dependencies", "private", "scripts", "devDependencies"])
      assert.equal(field in manifest, false, field);
    assert.deepEqual((await readdir(built())).filter((file) => file.endsWith(".js")).sort(), [
      "imports.js",
      "index.js",
      "plugin.js",
    ]);
  });

  it("passes publint, and has types that every resolver finds", async () => {
    const { messages, pkg } = await publint({ pkgDir: built(), strict: true });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
    const attw = join(modules, "@arethetypeswrong/cli/dist/index.js");
    await run(process.execPath, [attw, packedPackage("uppy"), "--profile", "esm-only", "--no-color"]);
  });

  it("is sound in itself", async () => {
    const compile = run(process.execPath, [
      join(modules, "typescript/bin/tsc"),
      "-p",
      join(packages, "uppy"),
    ]);
    await compile.catch((error) => assert.fail(error.stdout));
  });

  it("compiles and loads in a fresh project", async () => {
    const code = `
      import Uppy from "@uppy/core";
      import Upstow from "@upstow/uppy";
      const uppy = new Uppy().use(Upstow, { endpoint: "https://site.example/api/upload", route: "image" });
      console.log(uppy.getPlugin("Upstow")?.type, uppy.getState().capabilities.resumableUploads);
      uppy.destroy();
      // @ts-expect-error a route is needed
      new Uppy().use(Upstow, { endpoint: "/" });
    `;
    await writeFile(join(project, "code.ts"), code);
    const compilerOptions = {
      module: "nodenext",
      target: "es2022",
      lib: ["es2023", "dom", "dom.iterable"],
      types: [],
      strict: true,
      skipLibCheck: true,
      noEmit: true,
    };
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["code.ts"] }));
    const compile = run(process.execPath, [join(modules, "typescript/bin/tsc"), "-p", project]);
    await compile.catch((error) => assert.fail(error.stdout));
    const program = code.replace(/\/\/ @ts-expect-error[\s\S]*$/, "");
    await writeFile(join(project, "code.mjs"), program);
    const { stdout } = await run(process.execPath, ["code.mjs"], { cwd: project });
    assert.equal(stdout, "uploader true\n");
  });
});
