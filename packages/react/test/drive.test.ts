import { it } from "node:test";
import { driveExample, representatives } from "./support/drive.ts";

for (const slug of representatives) {
  it(`${slug} chooses, drops, pastes, cancels, fails, retries and finishes`, () => driveExample(slug));
}
