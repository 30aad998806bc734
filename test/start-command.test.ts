import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { parse, parseAllDocuments } from "yaml";
import { JSON_CUT_AFTER_MS } from "../packages/server/src/http/body-deadline.ts";
import { DRAIN_MS } from "../packages/server/src/webhooks/dispatcher.ts";
import { readStartArguments } from "./support/start-command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const started = readStartArguments(root).join(" ").replace(root, "");
const read = (path: string) => readFileSync(`${root}${path}`, "utf8");
const [deployment] = parseAllDocuments(read("deploy/kubernetes/upstow.yaml")).map((found) => found.toJS());
const compose = parse(read("deploy/compose.yaml"));

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
  const [once = "", ...each] = file.slice(0, file.indexOf("services:")).split("# Then, each time:\n");
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
