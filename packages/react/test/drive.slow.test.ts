import { it } from "node:test";
import { driveExample, representatives, uploading } from "./support/drive.ts";

for (const { slug } of uploading) {
  if (representatives.includes(slug)) continue;
  it(`${slug} chooses, drops, pastes, cancels, fails, retries and finishes`, () => driveExample(slug));
}
