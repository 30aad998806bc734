import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDueTurns } from "./workers.ts";

interface Due {
  id: string;
  project_id: string;
}

const isOver = () => false;

/** Files of projects in the order of their names, each claimed once. */
function turnsOf(files: Due[], hasRoom: (due: Due) => boolean) {
  const left = new Set(files);
  return createDueTurns<Due, string>(
    async (projectId) => [...left].find(({ project_id }) => project_id > projectId) ?? null,
    async (due) => (left.delete(due) ? due.id : undefined),
    hasRoom,
  );
}

describe("turns of what is due", () => {
  it("pass over projects without room, and end when only those are left", async () => {
    const files = ["a", "b", "c", "d"].map((name) => ({ id: name, project_id: name }));
    const full = new Set(["a", "c"]);
    const claimNext = turnsOf(files, ({ project_id }) => !full.has(project_id));
    assert.deepEqual([await claimNext(isOver), await claimNext(isOver)], ["b", "d"]);
    assert.equal(await claimNext(isOver), null);
    full.clear();
    assert.deepEqual(new Set([await claimNext(isOver), await claimNext(isOver)]), new Set(["a", "c"]));
  });

  it("reach a project behind hundreds without room", async () => {
    const name = (i: number) => `p${String(i).padStart(4, "0")}`;
    const files = Array.from({ length: 350 }, (_, i) => ({ id: name(i), project_id: name(i) }));
    const claimNext = turnsOf(files, ({ project_id }) => project_id === name(349));
    let looks = 0;
    let claimed: string | null = null;
    while (claimed === null && looks++ < 10) claimed = await claimNext(isOver);
    assert.equal(claimed, name(349));
    assert.ok(looks > 1, "one look alone would pass over all of them");
  });
});
