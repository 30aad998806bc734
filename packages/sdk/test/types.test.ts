import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { it } from "node:test";

it("wrong route names, inputs and results do not compile, and the wire types are the contract's", () => {
  const compiler = join(import.meta.dirname, "../../../node_modules/typescript/bin/tsc");
  const project = join(import.meta.dirname, "types");
  const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", project], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});
