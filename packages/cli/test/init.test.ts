import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { renderProvider, renderRouteHandler } from "@upstow/mcp/scaffolds";
import { transform } from "esbuild";
import { apiKey, createInitProjects, manifestOf } from "./support/init-projects.ts";
import { runFailing, runJson, runUpstow } from "./support/run-upstow.ts";

const run = promisify(execFile);
const modules = join(import.meta.dirname, "../../../node_modules");
const layout = `import "./globals.css";

export default function RootLayout({ children }: { children: React.ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
`;

describe("upstow init", () => {
  const { home, env, at, write, read, list } = createInitProjects();

  it("sets a Next.js project up, shows every change first, and takes all of it back", async () => {
    const original = {
      "package.json": manifestOf("next", "react"),
      "tsconfig.json": "{}",
      "src/app/layout.tsx": layout,
      ".gitignore": "node_modules\n",
    };
    await write(original);
    const files = await list();

    const dry = await runUpstow(["init", at.project, "--dry-run"], env);
    assert.equal(dry.code, 0, dry.stderr);
    assert.match(
      dry.stdout,
      /^\+ {4}"@upstow\/react": "https:\/\/files\.example\.com\/packages\/react\.tgz",?$/m,
    );
    assert.match(dry.stdout, /^-\s+<body>\{children\}<\/body>\n\+\s+<body><UploadProvider>/m);
    assert.match(dry.stdout, /^--- \/dev\/null\n\+\+\+ \.env\.local\n\+UPSTOW_URL=https/m);
    assert.ok(!dry.stdout.includes(apiKey), "the key is not shown");
    assert.deepEqual(await list(), files);
    assert.equal(
      (await runFailing(["init", at.project, "--no-install"], env)).exitCode,
      2,
      "nobody said yes",
    );

    const made = await runJson(["init", at.project, "--yes", "--no-install"], env);
    assert.deepEqual([made.framework, made.packageManager, made.written], ["next", "npm", true]);
    assert.deepEqual(made.notes, ['Show it: <UploadDropzone route="image" />, from @upstow/react.']);
    const options = { routeName: "image", maxFileSize: "4MB", allowedTypes: ["image/*"] };
    assert.equal(
      await read("src/app/api/upload/route.ts"),
      renderRouteHandler({ framework: "next", ...options }).code,
    );
    assert.equal(await read("src/app/upload-provider.tsx"), renderProvider().code);
    assert.match(await read("src/app/layout.tsx"), /<UploadProvider>\{children\}<\/UploadProvider>/);
    assert.equal(
      await read(".env.local"),
      `UPSTOW_URL=https://files.example.com\nUPSTOW_API_KEY=${apiKey}\n`,
    );
    assert.equal((await stat(join(at.project, ".env.local"))).mode & 0o777, 0o600);
    assert.equal(await read(".gitignore"), "node_modules\n.env.local\n");
    assert.equal(
      (await runJson(["init", at.project, "--yes"], env)).written,
      false,
      "a second time nothing is left to do",
    );

    const back = await runJson(["init", at.project, "--undo", "--no-install"], env);
    assert.equal(back.restored.length, 6);
    assert.deepEqual(await list(), files);
    for (const [path, text] of Object.entries(original)) assert.equal(await read(path), text);
    assert.equal((await runFailing(["init", at.project, "--undo"], env)).code, "NOT_FOUND");
  });

  it("writes JavaScript where there is no TypeScript", async () => {
    await write({
      "package.json": manifestOf("next", "react"),
      "app/layout.js": layout.replace(": { children: React.ReactNode }", ""),
    });
    const { changes } = await runJson(["init", at.project, "--yes", "--no-install"], env);
    assert.deepEqual(changes, [
      "package.json",
      "app/api/upload/route.js",
      "app/upload-provider.jsx",
      "app/layout.js",
      ".env.local",
      ".gitignore",
    ]);
    for (const path of changes.filter((name: string) => /js/.test(name) && name !== "package.json")) {
      await transform(await read(path), { loader: "jsx" });
    }
    assert.doesNotMatch(await read("app/api/upload/route.js"), /\btype\b|satisfies/);
  });

  it("names its variables to SvelteKit from the third version on, and leaves a list that is there alone", async () => {
    const initIn = async (version: string, files: Record<string, string> = {}) => {
      const manifest = JSON.stringify({ devDependencies: { "@sveltejs/kit": version, typescript: "6" } });
      await write({ "package.json": manifest, ...files });
      return runJson(["init", at.project, "--dry-run"], env);
    };
    const before = await initIn("^2.40.0");
    assert.ok(!before.changes.includes("src/env.ts"));
    assert.match(before.diff, /^\+import \{ env \} from "\$env\/dynamic\/private";$/m);
    assert.doesNotMatch(before.diff, /app\/env/);
    for (const version of ["^3.1.1", "latest"]) {
      const { changes, diff } = await initIn(version);
      assert.ok(changes.includes("src/env.ts"), version);
      assert.match(diff, /^\+import \* as env from "\$app\/env\/private";$/m);
    }
    const own = await initIn("3.0.0", { "src/env.ts": "export const variables = {};\n" });
    assert.ok(!own.changes.includes("src/env.ts"));
    assert.match(own.notes.join(), /Declare UPSTOW_URL and UPSTOW_API_KEY/);
  });

  /** A folder with this Node, or with one that runs no TypeScript. */
  async function makeNode(runsTypeScript: boolean): Promise<string> {
    const folder = await mkdtemp(join(home, "node-"));
    if (runsTypeScript) await symlink(process.execPath, join(folder, "node"));
    else await writeFile(join(folder, "node"), "#!/bin/sh\necho undefined\n", { mode: 0o755 });
    return folder;
  }

  it("adds a server to pages that Vite makes, and takes all of it back", async () => {
    const original = {
      "package.json": manifestOf("vite", "react", "typescript"),
      "vite.config.ts": "export default defineConfig({\n  plugins: [react()],\n})\n",
      "src/main.tsx": "import App from './App.tsx'\n\ncreateRoot(root).render(<App />)\n",
    };
    await write(original);
    const newNode = { ...env, PATH: await makeNode(true) };
    const made = await runJson(["init", at.project, "--yes", "--no-install"], newNode);
    assert.equal(made.framework, "express");
    assert.match(
      await read("package.json"),
      /"express": "\^5[\s\S]*"server": "node --env-file=.env server.ts"/,
    );
    assert.match(await read("server.ts"), /app\.all\("\/api\/upload"[\s\S]*app\.listen\(3000/);
    assert.match(await read("upload-router.ts"), /export type Router/);
    assert.match(await read("src/upload-provider.tsx"), /from "\.\.\/upload-router\.js"[\s\S]*Register/);
    assert.match(await read("vite.config.ts"), /proxy: \{ "\/api\/upload": "http:\/\/localhost:3000" \}/);
    assert.match(await read("src/main.tsx"), /<UploadProvider><App \/><\/UploadProvider>/);
    assert.match(made.notes.join("\n"), /npm run server, and npm run dev/);
    await runJson(["init", at.project, "--undo", "--no-install"], env);
    for (const [path, text] of Object.entries(original)) assert.equal(await read(path), text);
    assert.deepEqual(await list(), [...Object.keys(original), "src"].sort());

    await runJson(["init", at.project, "--yes", "--no-install"], { ...env, PATH: await makeNode(false) });
    assert.match(
      await read("package.json"),
      /"tsx": "\^4[\s\S]*"server": "tsx --env-file=.env server.ts"/,
      "Node runs TypeScript from 22.18 on only",
    );
  });

  it("adds a server of plain JavaScript where the pages are", async () => {
    await write({ "package.json": manifestOf("vite", "react"), "src/main.jsx": "render(<App />)\n" });
    await runJson(["init", at.project, "--yes", "--no-install"], { ...env, PATH: await makeNode(false) });
    assert.match(await read("package.json"), /"server": "node --env-file=.env server.mjs"/);
    assert.match(await read("server.mjs"), /from ".\/upload-router\.mjs"/);
    for (const path of ["server.mjs", "upload-router.mjs", "src/upload-provider.jsx"])
      await transform(await read(path), { loader: "jsx" });
    assert.match(await read("upload-router.mjs"), /\};\n$/);
  });

  it("gives React Router's own server the handler, and takes all of it back", async () => {
    const original = {
      // It has Vite and Express, and neither is where uploads belong.
      "package.json": manifestOf("@react-router/dev", "express", "vite", "react", "typescript"),
      "app/root.tsx": 'import { Outlet } from "react-router";\n\nexport default () => <Outlet />;\n',
      "app/routes.ts":
        'import { index } from "@react-router/dev/routes";\n\nexport default [index("routes/home.tsx")];\n',
    };
    await write(original);
    const files = await list();
    const made = await runJson(["init", at.project, "--yes", "--no-install"], env);
    assert.equal(made.framework, "react-router");
    assert.match(await read("app/routes/api.upload.ts"), /export const loader =[\s\S]*export const action =/);
    assert.match(await read("app/routes.ts"), /\[route\("api\/upload", "routes\/api\.upload\.ts"\), index/);
    assert.match(await read("app/root.tsx"), /<UploadProvider><Outlet \/>/);
    assert.match(
      await read("app/upload-provider.tsx"),
      /import type \{ Router \} from "\.\/routes\/api\.upload\.js";/,
    );
    await runJson(["init", at.project, "--undo", "--no-install"], env);
    assert.deepEqual(await list(), files);
  });

  it("gives Astro an endpoint, and says what an island and the endpoint need", async () => {
    await write({ "package.json": manifestOf("astro", "react") });
    const made = await runJson(["init", at.project, "--yes", "--no-install"], env);
    assert.equal(made.framework, "astro");
    const code = await read("src/pages/api/upload.js");
    assert.match(code, /export const prerender = false;[\s\S]*export const POST = GET;/);
    await transform(code, { loader: "js" });
    assert.match(made.notes.join("\n"), /client:load[\s\S]*astro add node/);
    await write({ "package.json": manifestOf("astro", "@astrojs/node") });
    assert.doesNotMatch(
      (await runJson(["init", at.project, "--dry-run"], env)).notes.join("\n"),
      /astro add/,
    );
  });

  for (const type of ["module", "commonjs"]) {
    it(`says how a server of plain JavaScript takes the handler, and is right (${type})`, async () => {
      await write({ "package.json": JSON.stringify({ type, dependencies: { express: "5", fastify: "5" } }) });
      await mkdir(join(at.project, "node_modules/@upstow"), { recursive: true });
      for (const name of ["express", "fastify", "hono"]) {
        await symlink(join(modules, name), join(at.project, "node_modules", name));
      }
      await symlink(join(modules, "../packages/sdk"), join(at.project, "node_modules/@upstow/sdk"));
      const load = (what: string, from: string) =>
        type === "module" ? `import ${what} from "${from}";` : `const ${what} = require("${from}");`;
      const servers = {
        express: `${load("express", "express")} const app = express(); MOUNT
          const server = app.listen(0, async () => {
            console.log(await (await fetch("http://127.0.0.1:" + server.address().port + "/api/upload")).text());
            server.close();
          });`,
        fastify: `${load("{ fastify }", "fastify")} const app = fastify(); MOUNT
          app.inject("/api/upload").then(({ body }) => console.log(body));`,
        hono: `${load("{ Hono }", "hono")} const app = new Hono(); MOUNT
          app.request("/api/upload").then(async (answer) => console.log(await answer.text()));`,
      };
      for (const [framework, code] of Object.entries(servers)) {
        const args = ["init", at.project, "--framework", framework, "--yes", "--no-install"];
        const { notes } = await runJson(args, env);
        const mount = /Add it to your server: (.*)/.exec(notes.join("\n"))?.[1] ?? "";
        await write({ "index.js": code.replace("MOUNT", mount) });
        const { stdout } = await run(process.execPath, ["--no-warnings", "index.js"], { cwd: at.project });
        assert.deepEqual(Object.keys(JSON.parse(stdout).routes), ["image"], framework);
        await runJson(["init", at.project, "--undo", "--no-install"], env);
      }
    });
  }

  it("writes over nothing, and takes back nothing that was changed since", async () => {
    await write({
      "package.json": manifestOf("express", "typescript"),
      "src/upload.ts": "// mine\n",
      ".env": "UPSTOW_URL=http://x\n",
    });
    const made = await runJson(["init", at.project, "--yes", "--no-install"], env);
    assert.match(made.notes.join("\n"), /src\/upload\.ts already exists/);
    assert.match(
      made.notes.join("\n"),
      /import \{ app as uploads \} from ".\/src\/upload.ts"; app\.use.*--env-file=\.env.*createUploader/s,
    );
    assert.equal(await read("src/upload.ts"), "// mine\n");
    assert.equal(await read(".env"), `UPSTOW_URL=http://x\nUPSTOW_API_KEY=${apiKey}\n`);
    await write({ ".env": "OTHER=1\n" });
    const undone = await runUpstow(["init", at.project, "--undo", "--no-install", "--json"], env);
    assert.equal(undone.code, 1);
    assert.deepEqual(JSON.parse(undone.stdout), { restored: ["package.json", ".gitignore"], kept: [".env"] });
    assert.equal(await read(".env"), "OTHER=1\n");
  });

  it("takes back two runs, and nothing that was done between them", async () => {
    await write({ "package.json": manifestOf("express") });
    const files = await list();
    const init = () => runJson(["init", at.project, "--yes", "--no-install"], env);
    await init();
    const edited = (await read("package.json")).replace('"express"', '"react": "19",\n    "express"');
    await write({ "package.json": edited, ".env": "MINE=1\n" });
    await rm(join(at.project, ".gitignore"));
    assert.deepEqual((await init()).changes, [
      "package.json",
      "src/upload-provider.jsx",
      ".env",
      ".gitignore",
    ]);
    await runJson(["init", at.project, "--undo", "--no-install"], env);
    assert.equal(await read("package.json"), edited);
    assert.equal(await read(".env"), "MINE=1\n");
    assert.deepEqual(await list(), [".env", ...files]);
  });

  it("puts the key in when it is run again with one", async () => {
    await write({ "package.json": manifestOf("express") });
    const init = (env: Record<string, string>) =>
      runJson(["init", at.project, "--yes", "--no-install"], { HOME: home, ...env });
    assert.match((await init({ UPSTOW_URL: "" })).notes[0], /`upstow login` and then init again/);
    assert.equal(await read(".env"), "UPSTOW_URL=http://localhost:4000\nUPSTOW_API_KEY=svc_test_…\n");
    assert.equal((await init({})).written, false);
    assert.deepEqual((await init(env)).changes, [".env"]);
    assert.equal(await read(".env"), `UPSTOW_URL=https://files.example.com\nUPSTOW_API_KEY=${apiKey}\n`);
    await runJson(["init", at.project, "--undo", "--no-install"], env);
    assert.deepEqual(await list(), ["package.json"]);
  });

  it("says how to take it back in words that can be pasted, however it was called", async () => {
    const callers = {
      "upstow init PROJECT --undo": {},
      "npx https://files.example.com/packages/cli.tgz init PROJECT --undo": { npm_command: "exec" },
      "npm run --silent upstow -- init PROJECT --undo": { npm_lifecycle_event: "upstow" },
    };
    for (const [command, caller] of Object.entries(callers)) {
      await write({ "package.json": manifestOf("hono") });
      const { stdout } = await runUpstow(["init", at.project, "--yes", "--no-install"], {
        ...env,
        ...caller,
      });
      assert.ok(stdout.includes(`\`${command.replace("PROJECT", at.project)}\` reverts`), stdout);
      await runJson(["init", at.project, "--undo", "--no-install"], env);
    }
  });

  it("uses the package manager of the workspace that the project is in", async () => {
    const root = at.project;
    const managers = {
      pnpm: { "package.json": "{}", "pnpm-workspace.yaml": "packages: [apps/*]\n", "pnpm-lock.yaml": "" },
      yarn: { "package.json": '{ "workspaces": ["apps/*"], "packageManager": "yarn@4.18.1" }' },
      "yarn before its first install": { "package.json": '{ "workspaces": ["apps/*"] }', "yarn.lock": "" },
      "yarn 1": {
        "package.json": '{ "workspaces": ["apps/*"] }',
        "yarn.lock": "# THIS IS AN AUTOGENERATED FILE.\n# yarn lockfile v1\n",
      },
    };
    for (const [name, files] of Object.entries(managers)) {
      const [manager] = name.split(" ");
      at.project = join(root, name.replaceAll(" ", "-"));
      await write({ ...files, "apps/web/package.json": manifestOf("hono") });
      const plan = await runJson(["init", join(at.project, "apps/web"), "--dry-run"], {
        ...env,
        UPSTOW_URL: "http://localhost:4000",
      });
      assert.equal(plan.packageManager, manager);
      const isModernYarn = manager === "yarn" && name !== "yarn 1";
      assert.equal(plan.changes.includes("../../.yarnrc.yml"), isModernYarn, name);
    }
  });

  it("knows frameworks and package managers, and says what it cannot know", async () => {
    assert.match((await runFailing(["init", at.project], env)).message, /no package\.json/);
    await write({ "package.json": manifestOf("left-pad"), "pnpm-lock.yaml": "" });
    const unknown = await runFailing(["init", at.project], env);
    assert.deepEqual([unknown.exitCode, unknown.code], [1, "NOT_FOUND"]);
    assert.match(
      unknown.message,
      /next, express, fastify, hono, sveltekit, astro, react-router.*--framework/,
    );
    const plan = await runJson(["init", at.project, "--framework", "hono", "--dry-run"], { HOME: home });
    assert.deepEqual([plan.framework, plan.packageManager], ["hono", "pnpm"]);
    assert.match(plan.diff, /UPSTOW_API_KEY=svc_test_…/);
    assert.deepEqual(plan.changes, ["package.json", "src/upload.mjs", ".env", ".gitignore"]);
  });
});
