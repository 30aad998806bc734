import { stripTypeScriptTypes } from "node:module";

/**
 * The code with types, comments and the inside of strings blanked out, every other letter where it was. What is
 * found in it can be changed in the source at the same place.
 */
export function maskSource(source: string): string {
  const letters = [...stripTypeScriptTypes(source)];
  const code = letters.join("");
  const pattern =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|(?<=[=(,:]\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]])*\]|[^/\\\n])+\/\w*/g;
  return code.replaceAll(pattern, (text) => {
    const blank = text.replaceAll(/[^\n]/g, " ");
    return /^["'`]/.test(text) ? `"${blank.slice(2)}"` : blank;
  });
}
