import type { SourceFile } from "./source-files.ts";

/** Says why a list without a limit cannot grow: `// bounded: an account has at most 20`. */
const marker = /\/\/ bounded: \S/;
const commentsAbove = /^(?:[ \t]*\/\/[^\n]*\n)+/;
/** `get` and `recall` take the first row, and `run` none. */
const readsOne = /\.(?:get|recall|run)(?:<[^>]*>)?\(\s*(\w+)/g;
const readsMany = /\.(?:all|recallAll)(?:<[^>]*>)?\(\s*(\w+)/g;
/** By its name it is about one row, so it may be handed to what reads that. */
const namesOne = /^(?:find|lock|note)[A-Z]/;
const notCode = /^import\b[^;]*;|^export \{[^;]*;|^\s*\/\/.*$|^\s*\/?\*.*$/gm;

type Source = Pick<SourceFile, "path" | "text">;

interface Definition {
  name: string;
  text: string;
  line: number;
}

/** Every select whose rows are all read, or counted, that has no limit, and that does not say why it needs none. */
export function findUnlimited(sources: Source[]): string[] {
  const uses = countUses(sources);
  return sources.flatMap(({ path, text }) =>
    definitionsIn(writeOutHelpers(text))
      .filter(({ name, text }) => name === unnamed || !uses.isForOneRow(name) || readsAnyway(text))
      .filter(({ text }) => (isSelect(text) || changesList(text)) && !isBounded(text))
      .filter(({ text }) => !readsNoTable(text) || readsAnyway(text))
      .filter(({ text }) => !marker.test(commentsAbove.exec(text)?.[0] ?? ""))
      .map(({ name, line }) => `${path}:${line} ${name} has neither a limit nor a reason`),
  );
}

/** Where a statement is handed on by its name, nothing tells how it will be read. */
function countUses(sources: Source[]): { isForOneRow(name: string): boolean } {
  const [all, one, many] = [new Map<string, number>(), new Map<string, number>(), new Set<string>()];
  const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const { text } of sources) {
    const code = text.replaceAll(notCode, "");
    for (const [name] of code.matchAll(/\w+/g)) add(all, name);
    for (const [, name = ""] of code.matchAll(readsOne)) add(one, name);
    for (const [, name = ""] of code.matchAll(readsMany)) many.add(name);
  }
  // One use more is the definition.
  const isHandedOn = (name: string) => (all.get(name) ?? 0) !== (one.get(name) ?? 0) + 1;
  return { isForOneRow: (name) => !many.has(name) && (namesOne.test(name) || !isHandedOn(name)) };
}

/** A change that returns rows returns those that it was told to change. */
const isSelect = (text: string) =>
  !/\.(insertInto|updateTable|deleteFrom|returning|returningAll)\(/.test(text);
/** A change of what a list names, which is as long as that. */
const changesList = (text: string) =>
  /\.(updateTable|deleteFrom)\(/.test(text) && /"in",\s*(?:\(\w+\) =>\s*)?\w+\s*\.selectFrom\(/.test(text);
const readsNoTable = (text: string) => /\.selectNoFrom\(/.test(text) && !/\.selectFrom\(|\bfrom\b/.test(text);
/** By a limit, or by a list of ids that the caller brings. */
const isLimited = /\.limit\(|\blimit \$\{|\bisOneOf\(/;
/** One row, for which any number of rows may be read. */
const counts = /\bcount\(\*\)|\.countAll\b/;
/** One of several rows: a server sends all of them. */
const picks = /\.(?:orderBy|offset)\(/;
const readsAnyway = (text: string) => counts.test(text) || picks.test(text) || changesList(text);

/** A limit in it says nothing of the rows. */
const rawColumn = /sql(?:<[^`]*>)?`[^`]*`\.as\(/g;

/** A limit around a query bounds the rows that come out of it, not those that it reads. */
function isBounded(text: string): boolean {
  const isOwnLimited = isLimited.test(text.replaceAll(rawColumn, ""));
  return isOwnLimited && derivedTables(text).every((table) => isLimited.test(table) || marker.test(table));
}

/** Queries that stand for a table. */
function derivedTables(text: string): string[] {
  return [...text.matchAll(/\.selectFrom\((?!\s*")/g)]
    .map((match) => text.slice(match.index + match[0].length, endOfCall(text, match.index + match[0].length)))
    .filter((table) => table.includes(".selectFrom("));
}

const helper = /^(?:export )?const (\w+) = \(q: QueryCreator<Schema>[^=]*\) =>([^;]+);$/gm;

/** Puts the queries that several statements of a file share where they are used. */
function writeOutHelpers(text: string): string {
  return [...text.matchAll(helper)].reduce(
    (written, [, name, body = ""]) =>
      written.replaceAll(new RegExp(`\\b${name}\\(q\\b[^()]*\\)`, "g"), () => body.replaceAll("\n", " ")),
    text,
  );
}
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
