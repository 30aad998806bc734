import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { it } from "node:test";
import { createTerminal } from "../terminal.ts";
import { createProgressBars } from "./progress-bars.ts";

const MB = 1024 * 1024;

it("draws a bar for each file under way and one for all", () => {
  let nowMs = 0;
  let drawn = "";
  const bars = createProgressBars(
    { files: 2, bytes: 40 * MB },
    (text) => {
      drawn = text;
    },
    () => nowMs,
  );
  const first = bars.start("first.bin", 20 * MB);
  const second = bars.start(`folder/${"long ".repeat(10)}name.bin`, 20 * MB);
  nowMs = 1000;
  first.move(10 * MB);
  const [one, two, all] = drawn.split("\n");
  assert.match(one ?? "", /^first\.bin +█{12}░{12} {2}50% {2}10\.0 MB of 20\.0 MB$/);
  assert.match(two ?? "", /^….*name\.bin +░{24} {3}0%/);
  assert.match(
    all ?? "",
    /^0 of 2 files +█{6}░{18} {2}25% {2}10\.0 MB of 40\.0 MB {2}10\.0 MB\/s {2}0:03 left$/,
  );
  first.end(true);
  // What an earlier run sent does not make this one look faster.
  second.resumed(10 * MB);
  nowMs = 2000;
  second.move(10 * MB);
  assert.match(drawn, /\n1 of 2 files .* 75% {2}30\.0 MB of 40\.0 MB {2}10\.0 MB\/s/);
});

it("gives letters the columns that terminals give them, so that bars stand in line and no line is broken", () => {
  const names = [
    "写真.jpg",
    "한국.jpg".normalize("NFD"),
    "e\u0301te.jpg",
    "🎉.jpg",
    `${"長い名前".repeat(10)}.jpg`,
  ];
  const drawNames = (columns: number) => {
    let shown = "";
    const stderr = new Writable({
      write(text, _encoding, done) {
        shown += text;
        done();
      },
    });
    const terminal = createTerminal(Object.assign(stderr, { isTTY: true, columns }), false);
    let drawn = "";
    const bars = createProgressBars({ files: names.length, bytes: 100 }, (text) => {
      drawn = text;
    });
    const started = names.map((name) => bars.start(name, 20));
    started[0]?.move(10);
    terminal.progress(drawn);
    return shown.split("\n").slice(0, names.length);
  };
  const spaces = (count: number) => " ".repeat(count);
  const expected = [
    `写真.jpg${spaces(20)}`,
    `${"한국".normalize("NFD")}.jpg${spaces(20)}`,
    `e\u0301te.jpg${spaces(21)}`,
    `🎉.jpg${spaces(22)}`,
    `…${"長い名前".repeat(3).slice(1)}.jpg${spaces(1)}`,
  ];
  assert.deepEqual(
    drawNames(200).map((line) => line.split(/ {2}(?=[█░])/)[0]),
    expected,
  );
  assert.deepEqual(drawNames(10).slice(3), ["🎉.jpg   ", "…い名前長"]);
});

it("spends no time on drawing what nobody can see", () => {
  let count = 0;
  const bars = createProgressBars(
    { files: 1, bytes: 100 },
    () => count++,
    () => 5000,
  );
  const bar = bars.start("a", 100);
  for (let i = 0; i < 100; i++) bar.move(i);
  assert.equal(count, 1);
});
