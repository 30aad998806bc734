import { it } from "node:test";
import { catalogue } from "../src/catalogue/index.ts";
import { driveExample, representatives } from "./support/drive.ts";

for (const { slug } of catalogue) {
  if (representatives.includes(slug)) continue;
  it(`${slug} chooses, drops, pastes, cancels, fails, retries and finishes`, () => driveExample(slug));
}
