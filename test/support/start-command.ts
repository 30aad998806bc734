import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What `npm start` runs in this directory, after "node": options, and the path of the program at the end. */
export function readStartArguments(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: { start: string };
  };
  // "exec" replaces npm's shell, which would not pass signals on.
  const [, ...options] = scripts.start.replace(/^exec /, "").split(" ");
  const program = options.pop() ?? "";
  return [...options, join(root, program)];
}
