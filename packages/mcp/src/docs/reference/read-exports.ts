import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface ExportedName {
  name: string;
  /** The comment above it, as one paragraph. */
  about: string;
  /** Its declaration, without what callers do not see. */
  code: string;
}

/**
 * Reads an entry point's exports, with comments and types as written in the source. Requires formatted files that declare
 * every export at the top level, as this repository's do.
 */
export function readExports(file: string): ExportedName[] {
  const source = readFileSync(file, "utf8");
  const named = [...source.matchAll(/^export (?:type )?\{([^}]*)\} from "(\.[^"]+)"/gm)].flatMap(
    ([, names = "", from = ""]) =>
      pickDeclarations(
        join(dirname(file), from),
        names
          .split(",")
          .map((name) => name.replace(/\btype /, "").trim())
          .filter((name) => name !== "" && !name.includes(" as ")),
      ),
  );
  const all = [...source.matchAll(/^export (?:type )?\* from "(\.[^"]+)"/gm)].flatMap(([, from = ""]) =>
    readExports(join(dirname(file), from)),
  );
  return [...readDeclarations(source), ...named, ...all];
}

function pickDeclarations(file: string, names: string[]): ExportedName[] {
  const declared = readDeclarations(readFileSync(file, "utf8"));
  return names.map((name) => {
    const found = declared.find((entry) => entry.name === name);
    if (found === undefined) throw new Error(`${name} is not declared in ${file}`);
    return found;
  });
}

const declaration =
  /^((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?)export (?:async )?(interface|type|class|function|const) (\w+)/gm;

function readDeclarations(source: string): ExportedName[] {
  return [...source.matchAll(declaration)].map(({ index, 1: comment = "", 2: kind = "", 3: name = "" }) => {
    const code = takeDeclaration(source.slice(index + comment.length + "export ".length));
    return { name, about: plainComment(comment), code: forReaders(code, kind) };
  });
}

/** Up to the line after which every bracket is closed and the statement ends. */
function takeDeclaration(source: string): string {
  const lines = source.split("\n");
  let depth = 0;
  let isComment = false;
  for (const [i, line] of lines.entries()) {
    const trimmed = line.trim();
    if (trimmed.startsWith("/*")) isComment = true;
    if (!isComment) depth += depthOf(trimmed);
    if (trimmed.endsWith("*/")) isComment = false;
    if (depth === 0 && /[;}]$/.test(trimmed)) return lines.slice(0, i + 1).join("\n");
  }
  return source;
}

function depthOf(line: string): number {
  const code = line.replaceAll(/"(?:[^"\\]|\\.)*"|`[^`]*`|\/\/.*|\/\*.*?\*\//g, "").replaceAll("=>", "");
  return (code.match(/[({[]/g)?.length ?? 0) - (code.match(/[)}\]]/g)?.length ?? 0);
}

function forReaders(code: string, kind: string): string {
  if (kind === "function") return takeSignature(code);
  if (kind !== "class") return code;
  const fields = [...code.matchAll(/^ {2}(?:override )?readonly (\w[^;=]*?)(?: =[^;]*)?;$/gm)];
  return `${code.split("\n", 1)[0]}\n${fields.map(([, field]) => `  readonly ${field};`).join("\n")}\n}`;
}

/** Everything before the bracket that opens the body. */
function takeSignature(code: string): string {
  return /^[\s\S]*?\)(?:: [^\n]*[^ \n{])?(?= \{$)/m.exec(code)?.[0] ?? code;
}

function plainComment(comment: string): string {
  return comment
    .replace(/^\/\*\*/, "")
    .replace(/\*\/\s*$/, "")
    .replaceAll(/^ *\* ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
