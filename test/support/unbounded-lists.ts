import type { SourceFile } from "./source-files.ts";

/** Says why a list without a limit cannot grow: `// bounded: an account has at most 20`. */
const marker = /\/\/ bounded: \S/;
/** What is read by `all` and its like may be many rows; `get` takes the first. */
const readsMany = /\.(?:all|recallAll)\(\s*(\w+)/g;

type Source = Pick<SourceFile, "path" | "text">;

interface Definition {
  name: string;
  text: string;
  line: number;
}

/** Every select whose rows are all read, or counted, that has no limit, and that does not say why it needs none. */
export function findUnlimited(sources: Source[]): string[] {
  const many = new Set(sources.flatMap(({ text }) => [...text.matchAll(readsMany)].map(([, name]) => name)));
  return sources.flatMap(({ path, text }) =>
    definitionsIn(text)
      .filter(({ name, text }) => name === unnamed || many.has(name) || counts.test(text))
      .filter((definition) => isSelect(definition.text) && !isLimited.test(definition.text))
      .filter((definition) => !marker.test(definition.text))
      .map(({ name, line }) => `${path}:${line} ${name} has neither a limit nor a reason`),
  );
}

/** A change that returns rows returns those that it was told to change. */
const isSelect = (text: string) =>
  !/\.(insertInto|updateTable|deleteFrom|returning|returningAll)\(/.test(text);
/** By a limit, or by a list of ids that the caller brings. */
const isLimited = /\.limit\(|\blimit \$\{|\bisOneOf\(/;
/** One row, for which any number of rows may be read. */
const counts = /\bcount\(\*\)|\.countAll\b/;
const unnamed = "a statement without a name";

/** From what is named to the parenthesis that ends it, with the comment lines right above. */
function definitionsIn(text: string): Definition[] {
  return [...text.matchAll(/\bstatement(?:<[^>]*>)?\(/g)].flatMap((match) => {
    const before = text.slice(0, match.index);
    if (/\b(function|import) [^\n]*$/.test(before)) return [];
    const name = /(\w+)\s*[=:]\s*(?:\([^)]*\)\s*=>\s*)?(?:\w+\()?$/.exec(before)?.[1] ?? unnamed;
    const start = startOfComments(text, before.lastIndexOf("\n") + 1);
    const end = endOfCall(text, match.index + match[0].length);
    return [{ name, text: text.slice(start, end), line: before.split("\n").length }];
  });
}

function startOfComments(text: string, lineStart: number): number {
  const above = text.slice(0, lineStart);
  return lineStart - (/(?:^[ \t]*\/\/[^\n]*\n)+$/m.exec(above)?.[0].length ?? 0);
}

function endOfCall(text: string, from: number): number {
  let depth = 1;
  let at = from;
  for (; depth > 0 && at < text.length; at++) {
    if (text[at] === "(") depth++;
    if (text[at] === ")") depth--;
  }
  return at;
}
