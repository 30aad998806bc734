import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { slowTest } from "../test/support/quick-run.ts";
import { installPackages, isInstalled } from "./install-packages.mjs";
import { SetUpError } from "./run-captured.mjs";

// Real npm on a project that needs no network: its packages are folders.
let root;
const said = [];
const say = (message) => said.push(message);
const hasDevPackage = () => existsSync(join(root, "node_modules", "only-for-tests"));

async function writePackage(folder, content) {
  await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, folder, "package.json"), JSON.stringify({ version: "1.0.0", ...content }));
}

async function changeLockfile() {
  const path = join(root, "package-lock.json");
  await writeFile(path, `${await readFile(path, "utf8")}\n`);
}

before(async () => {
  root = await mkdtemp(join(tmpdir(), "upstow-install-"));
  await writePackage("local/node", { name: "node", bin: { node: "bin/node" } });
  await mkdir(join(root, "local/node/bin"));
  await symlink(process.execPath, join(root, "local/node/bin/node"));
  await writePackage("local/only-for-tests", { name: "only-for-tests" });
  await writePackage(".", {
    name: "project",
    dependencies: { node: "file:local/node" },
    devDependencies: { "only-for-tests": "file:local/only-for-tests" },
  });
  execFileSync("npm", ["install", "--package-lock-only"], { cwd: root, stdio: "ignore" });
});
after(() => rm(root, { recursive: true }));

test("serving installs no development packages; testing adds them; nothing takes them away again", async () => {
  assert.equal(isInstalled(root, "serve"), false);
  await installPackages(root, "serve", say);
  assert.deepEqual(
    [isInstalled(root, "serve"), isInstalled(root, "test"), hasDevPackage()],
    [true, false, false],
  );

  await installPackages(root, "test", say);
  assert.deepEqual(
    [isInstalled(root, "serve"), isInstalled(root, "test"), hasDevPackage()],
    [true, true, true],
  );

  await changeLockfile();
  assert.deepEqual([isInstalled(root, "serve"), isInstalled(root, "test")], [false, false]);
  await installPackages(root, "serve", say);
  assert.deepEqual(
    [isInstalled(root, "serve"), isInstalled(root, "test"), hasDevPackage()],
    [true, true, true],
  );
  assert.match(said[0], /npm ci --omit=dev/);
});

test("only packages that package.json allows run code at installation", async () => {
  const scripts = { postinstall: "node -e \"require('node:fs').writeFileSync('ran', '')\"" };
  await writePackage("local/allowed", { name: "allowed", scripts });
  await writePackage("local/uninvited", { name: "uninvited", scripts });
  await writePackage(".", {
    name: "project",
    dependencies: {
      node: "file:local/node",
      allowed: "file:local/allowed",
      uninvited: "file:local/uninvited",
    },
    allowScripts: { allowed: true, uninvited: false, absent: true },
  });
  execFileSync("npm", ["install", "--package-lock-only"], { cwd: root, stdio: "ignore" });
  await installPackages(root, "serve", say);
  const hasRun = (name) => existsSync(join(root, "local", name, "ran"));
  assert.deepEqual([hasRun("allowed"), hasRun("uninvited")], [true, false]);
});

test("a lockfile that does not fit is named together with the remedy", async () => {
  await writePackage(".", {
    name: "project",
    dependencies: { node: "file:local/node", other: "file:local/other" },
  });
  await writePackage("local/other", { name: "other" });
  await assert.rejects(
    installPackages(root, "serve", say),
    (error) => error instanceof SetUpError && /Missing: other[\s\S]*Run `npm install`/.test(error.message),
  );
});

test("a registry that cannot be reached is named as such", async () => {
  await writePackage(".", { name: "project", dependencies: { node: "file:local/node", absent: "1.0.0" } });
  // Port 9 (discard) refuses; one try is enough to see it.
  await writeFile(join(root, ".npmrc"), "registry=http://127.0.0.1:9/\nfetch-retries=0\n");
  await assert.rejects(
    installPackages(root, "serve", say),
    (error) => error instanceof SetUpError && /registry cannot be reached/.test(error.message),
  );
});

// As npm 10 does, the one that comes with Node 20 and 22. Tests may run on a newer one.
async function deleteLinksLikeNpm10() {
  const npm = execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim();
  const folder = join(root, "npm10");
  await mkdir(folder);
  const script = `#!/bin/sh\n"${npm}" "$@"\ncode=$?\nrm -f node_modules/.bin/node\nexit $code\n`;
  await writeFile(join(folder, "npm"), script, { mode: 0o755 });
  return folder;
}

slowTest("Node is found again where npm deleted its link because of another platform's package", async () => {
  const name = `node-${process.platform}-${process.arch}`;
  await rm(join(root, ".npmrc"), { force: true });
  await writePackage("local/node", { name, bin: { node: "bin/node" } });
  await writePackage(".", { name: "project", optionalDependencies: { [name]: "file:local/node" } });
  execFileSync("npm", ["install", "--package-lock-only"], { cwd: root, stdio: "ignore" });
  const { PATH } = process.env;
  process.env.PATH = `${await deleteLinksLikeNpm10()}:${PATH}`;
  try {
    await installPackages(root, "serve", say);
  } finally {
    process.env.PATH = PATH;
  }
  const version = execFileSync(join(root, "node_modules/.bin/node"), ["--version"], { encoding: "utf8" });
  assert.deepEqual([version.trim(), isInstalled(root, "serve")], [process.version, true]);
});

async function leaveOutNode(name) {
  await rm(join(root, ".npmrc"), { force: true });
  await writePackage("local/elsewhere", { name, os: "win32", bin: { node: "bin/node" } });
  await writePackage(".", { name: "project", optionalDependencies: { [name]: "file:local/elsewhere" } });
  execFileSync("npm", ["install", "--package-lock-only"], { cwd: root, stdio: "ignore" });
}

slowTest("on a platform without a package, the machine's own Node will do if it is new enough", async () => {
  await leaveOutNode("node-win32-x64");
  if (Number.parseInt(process.versions.node, 10) >= 24) {
    await installPackages(root, "serve", say);
    assert.equal(isInstalled(root, "serve"), true);
  } else {
    await assert.rejects(installPackages(root, "serve", say), /brings no Node for .*Install Node 24/);
    assert.equal(isInstalled(root, "serve"), false);
  }
});

// npm says nothing about an optional package that fails its checksum.
slowTest("a Node that should have been installed and was not stops the set-up", async () => {
  await leaveOutNode(`node-${process.platform}-${process.arch}`);
  await assert.rejects(installPackages(root, "serve", say), /npm left out node-.* does not match/);
  assert.equal(isInstalled(root, "serve"), false);
});
