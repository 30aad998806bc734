import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What `npm start` runs in this directory, after "node": options, and the path of the program at the end. */
export function readStartArguments(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: { start: string };
  };
  const [, ...options] = scripts.start.split(" ");
  const program = options.pop() ?? "";
  return [...options, join(root, program)];
}
