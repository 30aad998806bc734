import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parse, parseAllDocuments } from "yaml";
import { JSON_CUT_AFTER_MS } from "../packages/server/src/http/body-deadline.ts";
import { lockDataDir } from "../packages/server/src/storage/disk/identity.ts";
import { DRAIN_MS } from "../packages/server/src/webhooks/dispatcher.ts";
import { pickFreePort } from "./support/free-port.ts";
import { readStartArguments } from "./support/start-command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const started = readStartArguments(root).join(" ").replace(root, "");
const read = (path: string) => readFileSync(`${root}${path}`, "utf8");
const [deployment] = parseAllDocuments(read("deploy/kubernetes/upstow.yaml")).map((found) => found.toJS());
const compose = parse(read("deploy/compose.yaml"));

it("npm start passes SIGTERM on, and ends when the server has ended", { timeout: 120_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "upstow-npm-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const port = await pickFreePort();
  const npm = spawn("npm", ["start"], {
    cwd: root,
    env: { ...process.env, UPSTOW_PORT: String(port), UPSTOW_DATA_DIR: dataDir, UPSTOW_LOG_LEVEL: "error" },
    stdio: "ignore",
    detached: true,
  });
  // The whole group, in case the server was left behind.
  t.after(() => {
    try {
      process.kill(-(npm.pid ?? 0), "SIGKILL");
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ESRCH");
    }
  });
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) await wait(50);
  npm.kill("SIGTERM");
  await once(npm, "exit");
  assert.equal(await isUp(), false);
  lockDataDir(dataDir).release();
});

it("the container runs what npm start runs", () => {
  const [, list = "[]"] = /^CMD (.+)$/m.exec(read("deploy/Dockerfile")) ?? [];
  assert.equal((JSON.parse(list) as string[]).slice(1).join(" "), started);
});

it("so does the unit of systemd", () => {
  const [, command = ""] = /^ExecStart=\S+ (.+)$/m.exec(read("deploy/upstow.service")) ?? [];
  assert.equal(command, started);
});

it("Kubernetes puts no variable of its own among those of the service", () => {
  assert.equal(deployment.kind, "Deployment");
  assert.equal(deployment.spec.template.spec.enableServiceLinks, false);
});

it("Compose is given secrets that were made once", () => {
  const file = read("deploy/compose.yaml");
  const [once = "", ...each] = file.slice(0, file.indexOf("services:")).split("# Then, for every start:\n");
  for (const [, name] of file.matchAll(/\$\{(\w+):\?\}/g)) assert.match(once, new RegExp(`\\b${name}=`));
  assert.match(each.join(""), /^# {3}docker compose -f deploy\/compose\.yaml up --build\n#\n/);
  for (const path of [".gitignore", ".dockerignore"]) assert.match(read(path), /^deploy\/\.env$/m, path);
});

it("every file gives the service the time that a clean stop takes", () => {
  const pod = deployment.spec.template.spec;
  const preStopSec = pod.containers[0].lifecycle.preStop.sleep.seconds;
  const given = {
    systemd: Number(/^TimeoutStopSec=(\d+)$/m.exec(read("deploy/upstow.service"))?.[1]),
    Compose: Number.parseInt(compose.services.upstow.stop_grace_period, 10),
    "Caddy in front of it": Number.parseInt(compose.services.caddy.stop_grace_period, 10),
    Kubernetes: pod.terminationGracePeriodSeconds - preStopSec,
  };
  const neededSec = (JSON_CUT_AFTER_MS + DRAIN_MS) / 1000;
  for (const [where, sec] of Object.entries(given)) assert.ok(sec > neededSec, `${where}: ${sec} s`);
});

it("Compose starts again what has failed, and stops what is in front of the service before it", () => {
  for (const [name, { restart }] of Object.entries<{ restart?: string }>(compose.services))
    assert.equal(restart, "unless-stopped", name);
  assert.deepEqual(compose.services.caddy.depends_on, ["upstow"]);
});
