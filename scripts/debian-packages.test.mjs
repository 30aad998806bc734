import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { findCommand, findMissingPackages } from "./debian-packages.mjs";

test("a package is missing until its command can be run", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "upstow-commands-"));
  const pathBefore = process.env.PATH;
  t.after(() => {
    process.env.PATH = pathBefore;
    return rm(folder, { recursive: true });
  });
  process.env.PATH = [pathBefore, folder].join(delimiter);
  const entry = { package: "some-package", command: "upstow-made-up-command", why: "this test" };
  const program = join(folder, entry.command);

  assert.deepEqual(findMissingPackages([entry]), [entry]);
  await writeFile(program, "#!/bin/sh\n", { mode: 0o644 });
  assert.equal(findCommand(entry.command), null);
  await chmod(program, 0o755);
  assert.equal(findCommand(entry.command), program);
  assert.deepEqual(findMissingPackages([entry]), []);
});
