import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, it } from "node:test";
import fc from "fast-check";
import { isQuickRun } from "../../../test/support/quick-run.ts";
import { allCommands } from "./support/model-commands.ts";
import {
  assertModelHolds,
  createWorld,
  type Model,
  type StoreKind,
  type World,
} from "./support/model-world.ts";
import { onBothDatabases } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";

// For a long run: UPSTOW_MODEL_HISTORIES=10000 UPSTOW_MODEL_COMMANDS=50 (and UPSTOW_TEST_FILE_DEADLINE_MS).
const histories = Number(process.env["UPSTOW_MODEL_HISTORIES"] ?? (onDisk && !isQuickRun ? 30 : 10));
const commandsEach = Number(process.env["UPSTOW_MODEL_COMMANDS"] ?? 30);
const store: StoreKind = onDisk ? "disk" : "s3";
const seed = Number(process.env["UPSTOW_MODEL_SEED"] ?? randomInt(2 ** 31));

onBothDatabases(`random histories with seed ${seed}`, (database) => {
  let world: World;
  before(async () => {
    world = await createWorld(database, store);
  });
  after(() => world.close());

  const timeout = Math.max(120_000, histories * 4000);
  it(`${histories} of up to ${commandsEach} steps end where a simple model says`, { timeout }, async (t) => {
    let steps = 0;
    const commands = fc.commands(allCommands(store), { maxCommands: commandsEach, size: "max" });
    const property = fc.asyncProperty(commands, async (history) => {
      const model: Model = { files: [], uploads: { live: 0, test: 0 } };
      const real = await world.beginHistory();
      await fc.asyncModelRun(() => ({ model, real }), history);
      await assertModelHolds(model, real);
      steps += real.steps;
    });
    await fc.assert(property, { numRuns: histories, seed });
    t.diagnostic(`${histories} histories, ${steps} steps, seed ${seed}`);
    assert.ok(steps > histories);
  });
});
