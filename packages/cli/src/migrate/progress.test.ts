import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatBytes } from "../format.ts";
import { createProgress } from "./progress.ts";

function createScreen(showsProgress: boolean) {
  const shown: string[] = [];
  const keep = (text: string) => void shown.push(text);
  const unexpected = () => assert.fail("the other way of showing it");
  const call = {
    showsProgress,
    progress: showsProgress ? keep : unexpected,
    note: showsProgress ? unexpected : keep,
  };
  return { shown, call };
}

describe("the progress of a move", () => {
  it("is a bar with the time left at a terminal, drawn ten times a second at most", () => {
    const { shown, call } = createScreen(true);
    let ms = 0;
    const progress = createProgress(call, formatBytes, () => ms);
    progress.show("Copying", 0, 4096);
    ms = 50;
    progress.show("Copying", 512, 4096);
    ms = 10_000;
    progress.show("Copying", 1024, 4096);
    ms = 10_001;
    progress.show("Copying", 4096, 4096);
    progress.show("Once more", 2048, 4_096_000);
    ms += 10_000;
    progress.show("Once more", 40_960, 4_096_000);
    ms += 36_000;
    progress.show("Once more", 43_008, 4_096_000);
    assert.deepEqual(shown, [
      "Copying  ░░░░░░░░░░░░░░░░░░░░░░░░   0%  0 B of 4.0 KB",
      "Copying  ██████░░░░░░░░░░░░░░░░░░  25%  1.0 KB of 4.0 KB  0:30 left",
      "Copying  ████████████████████████ 100%  4.0 KB of 4.0 KB",
      "Once more  ░░░░░░░░░░░░░░░░░░░░░░░░   0%  2.0 KB of 3.9 MB",
      "Once more  ░░░░░░░░░░░░░░░░░░░░░░░░   1%  40.0 KB of 3.9 MB",
      "Once more  ░░░░░░░░░░░░░░░░░░░░░░░░   1%  42.0 KB of 3.9 MB  1:15:52 left",
    ]);
  });

  it("is a plain line every few seconds elsewhere, and one at the end of each step", () => {
    const { shown, call } = createScreen(false);
    let ms = 0;
    const progress = createProgress(call, String, () => ms);
    for (; ms < 6_000; ms += 1_000) progress.show("Copying", ms / 1_000, 10);
    for (let times = 0; times < 3; times += 1) progress.show("Copying", 10, 10);
    progress.show("Comparing", 0, 0);
    assert.deepEqual(shown, [
      "Copying: 0%, 0 of 10",
      "Copying: 50%, 5 of 10",
      "Copying: 100%, 10 of 10",
      "Comparing: 100%, 0 of 0",
    ]);
  });
});
