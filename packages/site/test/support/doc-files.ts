import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root: string = join(import.meta.dirname, "../../../..");

/** Pages for users, and the READMEs that stand in for pages on package and repository sites. */
export const docFiles: readonly string[] = [
  ...globSync("docs/**/*.md", { cwd: root, exclude: ["docs/adr/**"] }).sort(),
  "README.md",
  ...globSync("packages/*/README.md", { cwd: root }).sort(),
];

export const readDoc = (file: string): string => readFileSync(join(root, file), "utf8");

export interface CodeBlock {
  file: string;
  line: number;
  language: string;
  code: string;
  /** From a first line such as `// app/page.tsx`: blocks of one page import each other by it. */
  path: string | null;
}

export function listBlocks(file: string): CodeBlock[] {
  const markdown = readDoc(file);
  return [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, language = "", code = ""] = match;
    const line = markdown.slice(0, match.index).split("\n").length + 1;
    return { file, line, language, code, path: /^\/\/ (\S+\.\w+)\n/.exec(code)?.[1] ?? null };
  });
}
