import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { readStartArguments } from "./support/start-command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const started = readStartArguments(root).join(" ").replace(root, "");
const read = (path: string) => readFileSync(`${root}${path}`, "utf8");

it("the container runs what npm start runs", () => {
  const [, list = "[]"] = /^CMD (.+)$/m.exec(read("deploy/Dockerfile")) ?? [];
  assert.equal((JSON.parse(list) as string[]).slice(1).join(" "), started);
});

it("so does the unit of systemd", () => {
  const [, command = ""] = /^ExecStart=\S+ (.+)$/m.exec(read("deploy/upstow.service")) ?? [];
  assert.equal(command, started);
});

it("Kubernetes puts no variable of its own among those of the service", () => {
  const [deployment] = parseAllDocuments(read("deploy/kubernetes/upstow.yaml")).map((found) => found.toJS());
  assert.equal(deployment.kind, "Deployment");
  assert.equal(deployment.spec.template.spec.enableServiceLinks, false);
});

it("Compose is given secrets that were made once", () => {
  const file = read("deploy/compose.yaml");
  const [once = "", ...each] = file.slice(0, file.indexOf("services:")).split("# Then, each time:\n");
  for (const [, name] of file.matchAll(/\$\{(\w+):\?\}/g)) assert.match(once, new RegExp(`\\b${name}=`));
  assert.deepEqual(each, ["#   docker compose -f deploy/compose.yaml up --build\n"]);
  for (const path of [".gitignore", ".dockerignore"]) assert.match(read(path), /^deploy\/\.env$/m, path);
});
