import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { createTypeDetector, type TypeQuestion } from "./type-detector.ts";

const question = (text: string): TypeQuestion => ({
  head: Buffer.from(text),
  directory: null,
  sizeBytes: text.length,
  declared: "application/pdf",
  allowedTypes: [],
});
const pdf = question("%PDF-1.7\n");

describe("the thread that examines bytes", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "upstow-detector-"));
  });
  after(() => rm(folder, { recursive: true }));

  /** A thread that hangs on "hang", dies on "die" and throws on "throw". */
  async function writeFragileThread() {
    const path = join(folder, "fragile.mjs");
    const body = `import { parentPort } from "node:worker_threads";
      parentPort.on("message", ({ id, head }) => {
        const word = Buffer.from(head).toString();
        while (word === "hang");
        if (word === "die") process.exit(1);
        if (word === "throw") throw new Error("as asked");
        parentPort.postMessage({ id, detected: word, problem: null });
      });`;
    await writeFile(path, body);
    return pathToFileURL(path);
  }

  it("answers many questions at once, each with its own verdict", async () => {
    const detector = createTypeDetector();
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, (_, i) => detector.judge(i % 2 === 0 ? pdf : question(`text ${i}`))),
    );
    assert.deepEqual(
      verdicts.map((verdict) => verdict?.problem),
      verdicts.map((_, i) => (i % 2 === 0 ? null : "unknown")),
    );
    await detector.close();
  });

  it("finishes with text that is made to be matched in many ways", async () => {
    const detector = createTypeDetector();
    for (const text of [
      `<!DOCTYPE a ${"[]".repeat(5_000)}`,
      `<!DOCTYPE a [${"] ".repeat(5_000)}`,
      `<!DOCTYPE ${" ".repeat(10_000)}[`,
      "<!--".repeat(4_000),
      "<??>".repeat(4_000),
    ])
      assert.deepEqual(
        await detector.judge(question(text)),
        { detected: null, problem: "unknown" },
        text.slice(0, 20),
      );
    await detector.close();
  });

  it("is ended and replaced by the next question after bytes that it cannot finish", async () => {
    const detector = createTypeDetector(3_000, await writeFragileThread());
    const words = ["a", "hang", "b", "die", "c", "throw", "d"];
    const verdicts = await Promise.all(words.map((word) => detector.judge(question(word))));
    assert.deepEqual(
      verdicts.map((verdict) => verdict?.detected ?? null),
      ["a", null, "b", null, "c", null, "d"],
    );
    await detector.close();
  });
});
