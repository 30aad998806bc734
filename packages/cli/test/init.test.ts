import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { renderProvider, renderRouteHandler } from "@upstow/mcp/scaffolds";
import { runFailing, runJson, runUpstow } from "./support/run-upstow.ts";

const apiKey = "svc_test_0123456789abcdef";
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
  let home: string;
  let project: string;
  let env: Record<string, string>;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), "upstow-init-"));
    env = { HOME: home, UPSTOW_URL: "https://files.example.com", UPSTOW_API_KEY: apiKey };
  });
  after(() => rm(home, { recursive: true }));
  beforeEach(async () => {
    project = await mkdtemp(join(home, "project-"));
  });

  async function write(files: Record<string, string>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(project, path)), { recursive: true });
      await writeFile(join(project, path), text);
    }
  }
  const manifestOf = (...packages: string[]) =>
    `${JSON.stringify({ name: "shop", dependencies: Object.fromEntries(packages.map((name) => [name, "1"])) }, null, 2)}\n`;
  const read = (path: string) => readFile(join(project, path), "utf8");
  const list = async () => (await readdir(project, { recursive: true })).sort();

  it("sets a Next.js project up, shows every change first, and takes all of it back", async () => {
    const original = {
      "package.json": manifestOf("next", "react"),
      "src/app/layout.tsx": layout,
      ".gitignore": "node_modules\n",
    };
    await write(original);
    const files = await list();

    const dry = await runUpstow(["init", project, "--dry-run"], env);
    assert.equal(dry.code, 0, dry.stderr);
    assert.match(dry.stdout, /^\+ {4}"@upstow\/react": "\^0\.1\.0",?$/m);
    assert.match(dry.stdout, /^-\s+<body>\{children\}<\/body>\n\+\s+<body><UploadProvider>/m);
    assert.match(dry.stdout, /^--- \/dev\/null\n\+\+\+ \.env\.local\n\+UPSTOW_URL=https/m);
    assert.ok(!dry.stdout.includes(apiKey), "the key is not shown");
    assert.deepEqual(await list(), files);
    assert.equal((await runFailing(["init", project], env)).exitCode, 2, "nobody said yes");

    const made = await runJson(["init", project, "--yes", "--no-install"], env);
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
    assert.equal((await stat(join(project, ".env.local"))).mode & 0o777, 0o600);
    assert.equal(await read(".gitignore"), "node_modules\n.env.local\n");
    assert.equal(
      (await runJson(["init", project, "--yes"], env)).written,
      false,
      "a second time nothing is left to do",
    );

    const back = await runJson(["init", project, "--undo", "--no-install"], env);
    assert.equal(back.restored.length, 6);
    assert.deepEqual(await list(), files);
    for (const [path, text] of Object.entries(original)) assert.equal(await read(path), text);
    assert.equal((await runFailing(["init", project, "--undo"], env)).code, "NOT_FOUND");
  });

  it("writes over nothing, and takes back nothing that was changed since", async () => {
    await write({
      "package.json": manifestOf("express"),
      "src/upload.ts": "// mine\n",
      ".env": "UPSTOW_URL=http://x\n",
    });
    const made = await runJson(["init", project, "--yes", "--no-install"], env);
    assert.match(made.notes.join("\n"), /src\/upload\.ts is there already/);
    assert.match(made.notes.join("\n"), /app\.all\("\/api\/upload".*--env-file=\.env.*createUploader/s);
    assert.equal(await read("src/upload.ts"), "// mine\n");
    assert.equal(await read(".env"), `UPSTOW_URL=http://x\nUPSTOW_API_KEY=${apiKey}\n`);
    await write({ ".env": "OTHER=1\n" });
    const run = await runUpstow(["init", project, "--undo", "--no-install", "--json"], env);
    assert.equal(run.code, 1);
    assert.deepEqual(JSON.parse(run.stdout), { restored: ["package.json", ".gitignore"], kept: [".env"] });
    assert.equal(await read(".env"), "OTHER=1\n");
  });

  it("knows frameworks and package managers, and says what it cannot know", async () => {
    assert.match((await runFailing(["init", project], env)).message, /no package\.json/);
    await write({ "package.json": manifestOf("left-pad"), "pnpm-lock.yaml": "" });
    const unknown = await runFailing(["init", project], env);
    assert.deepEqual([unknown.exitCode, unknown.code], [1, "NOT_FOUND"]);
    assert.match(unknown.message, /next, express, fastify, hono, sveltekit.*--framework/);
    const plan = await runJson(["init", project, "--framework", "hono", "--dry-run"], { HOME: home });
    assert.deepEqual([plan.framework, plan.packageManager], ["hono", "pnpm"]);
    assert.match(plan.diff, /UPSTOW_API_KEY=svc_test_…/);
    assert.deepEqual(plan.changes, ["package.json", "src/upload.ts", ".env", ".gitignore"]);
  });

  it("says when packages cannot be installed", async () => {
    await write({ "package.json": manifestOf("fastify") });
    const failure = await runFailing(["init", project, "--yes"], { ...env, PATH: "/nowhere" });
    assert.deepEqual([failure.exitCode, failure.code], [1, "INSTALL_FAILED"]);
    assert.match(failure.message, /npm install.*upstow init --undo/);
  });
});
