import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { pickFreePort } from "../../../test/support/free-port.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { createInitProjects, manifestOf } from "./support/init-projects.ts";
import { runFailing, runUpstow, spawnUpstow } from "./support/run-upstow.ts";

const run = promisify(execFile);

describe("upstow init, with packages from a running instance", () => {
  const { home, env, at, write, read, list } = createInitProjects();
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());
  const atInstance = () => ({ ...env, UPSTOW_URL: app.url });

  it("installs them", async () => {
    await write({ "package.json": '{ "name": "shop", "type": "module" }' });
    // npm asks the instance, and init waits for npm with its whole process.
    const { code, stderr } = await spawnUpstow(
      ["init", at.project, "--framework", "hono", "--yes"],
      atInstance(),
    ).ended;
    assert.equal(code, 0, stderr);
    assert.equal(
      JSON.parse(await read("package.json")).dependencies["@upstow/sdk"],
      `${app.url}/packages/sdk.tgz`,
    );
    const check = 'import("@upstow/sdk").then((sdk) => console.log(typeof sdk.createUpstow))';
    const { stdout } = await run(process.execPath, ["-e", check], { cwd: at.project });
    assert.equal(stdout.trim(), "function");
  });

  it("leaves the project as it was when they cannot be installed, and says why", async () => {
    const original = { "package.json": manifestOf("fastify"), ".gitignore": "node_modules\n" };
    await write(original);
    const files = await list();
    const failure = await runFailing(["init", at.project, "--yes"], { ...atInstance(), PATH: "/nowhere" });
    assert.deepEqual([failure.exitCode, failure.code], [1, "INSTALL_FAILED"]);
    assert.match(failure.message, /npm install.*ENOENT[\s\S]*is unchanged/);
    assert.deepEqual(await list(), files);
    for (const [path, text] of Object.entries(original)) assert.equal(await read(path), text);
    // A fake manager, since a real one would ask a registry.
    const bin = await mkdtemp(join(home, "bin-"));
    const script = '#!/bin/sh\necho "npm warn old"; echo "npm error 404 no such package"; exit 1\n';
    await writeFile(join(bin, "npm"), script, { mode: 0o755 });
    const path = `${bin}:${process.env["PATH"]}`;
    const refused = await runFailing(["init", at.project, "--yes"], { ...atInstance(), PATH: path });
    assert.match(refused.message, /failed: npm error 404 no such package/);
    assert.deepEqual(await list(), files);
  });

  it("leaves no lockfile or packages of an install that failed halfway, and gives Yarn's own reason", async () => {
    const lockfile = "# yarn\n\n__metadata:\n  version: 8\n";
    await write({ "package.json": manifestOf("fastify"), "yarn.lock": lockfile });
    const files = await list();
    const bin = await mkdtemp(join(home, "bin-"));
    const script = `#!/bin/sh
[ "$YARN_ENABLE_IMMUTABLE_INSTALLS" = false ] || exit 3
grep -q '"127.0.0.1"' .yarnrc.yml || exit 4
mkdir node_modules && echo half > node_modules/half && echo changed > yarn.lock
echo "➤ YN0002: │ a warning"; echo "➤ YN0035: │ no such package"; echo "➤ YN0000: · Failed with errors in 1s"; exit 1
`;
    await writeFile(join(bin, "yarn"), script, { mode: 0o755 });
    const path = `${bin}:${process.env["PATH"]}`;
    const refused = await runFailing(["init", at.project, "--yes"], { ...atInstance(), PATH: path });
    assert.match(refused.message, /failed: ➤ YN0035: │ no such package\n/);
    assert.deepEqual(await list(), files);
    assert.equal(await read("yarn.lock"), lockfile);
  });

  it("leaves the project as it was on Ctrl-C during the install, or when a file cannot be written", async () => {
    await write({ "package.json": manifestOf("fastify") });
    const bin = await mkdtemp(join(home, "bin-"));
    // A terminal sends the signal to both.
    const script = "#!/bin/sh\ntouch npm-ran; mkdir node_modules\nkill -INT $PPID\nkill -INT $$\n";
    await writeFile(join(bin, "npm"), script, { mode: 0o755 });
    const path = `${bin}:${process.env["PATH"]}`;
    const args = ["init", at.project, "--yes", "--json"];
    const { code, stderr } = await spawnUpstow(args, { ...atInstance(), PATH: path }).ended;
    const error = { code: "INTERRUPTED", message: "Stopped.\nThe project is unchanged." };
    assert.deepEqual([code, JSON.parse(stderr).error], [1, error]);
    assert.deepEqual(await list(), ["npm-ran", "package.json"]);
    assert.equal(await read("package.json"), manifestOf("fastify"));

    // Where the handler's folder should be.
    await write({ src: "a file" });
    const failure = await runFailing(["init", at.project, "--yes"], atInstance());
    assert.match(failure.message, /EEXIST.*src/);
    assert.deepEqual(await list(), ["npm-ran", "package.json", "src"]);
    assert.equal(await read("package.json"), manifestOf("fastify"));
  });

  it("says that the instance serves another version of this command", async () => {
    await write({ "package.json": manifestOf("fastify") });
    const packages = [{ name: "@upstow/cli", version: "99.0.0" }];
    const server = createServer((_, response) => response.end(JSON.stringify({ packages }))).listen(0);
    await once(server, "listening");
    const url = `http://localhost:${(server.address() as AddressInfo).port}`;
    try {
      const other = await runUpstow(["init", at.project], { ...env, UPSTOW_URL: url }, "n\n");
      assert.match(
        other.stderr,
        new RegExp(`serves 99\\.0\\.0.*npx ${url}/packages/cli-99\\.0\\.0\\.tgz init`),
      );
      const same = await runUpstow(["init", at.project], atInstance(), "n\n");
      assert.doesNotMatch(same.stderr, /packages\/cli/);
    } finally {
      server.close();
    }
  });

  it("names a service that does not answer before it writes anything", async () => {
    await write({ "package.json": manifestOf("fastify") });
    const silent = { ...env, UPSTOW_URL: `http://localhost:${await pickFreePort()}` };
    const failure = await runFailing(["init", at.project, "--yes"], silent);
    assert.deepEqual([failure.exitCode, failure.code], [1, "SERVICE_UNAVAILABLE"]);
    assert.match(failure.message, /does not serve its packages.*--no-install/);
    assert.deepEqual(await list(), ["package.json"]);
  });
});
