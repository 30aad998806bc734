import { maskSource } from "./mask.ts";

export interface Mutant {
  start: number;
  end: number;
  text: string;
  line: number;
  /** `a === b` → `a !== b`, in short. */
  what: string;
}

const swaps: [RegExp, (found: string) => string][] = [
  [/(?<![=!])===(?!=)/g, () => "!=="],
  [/!==/g, () => "==="],
  [/(?<= )<=(?= )/g, () => "<"],
  [/(?<= )>=(?= )/g, () => ">"],
  [/(?<= )<(?= )/g, () => "<="],
  [/(?<= )>(?= )/g, () => ">="],
  [/&&/g, () => "||"],
  [/\|\|/g, () => "&&"],
  [/\btrue\b/g, () => "false"],
  [/\bfalse\b/g, () => "true"],
  [/(?<=[\s(])!(?=[\w(])/g, () => ""],
  [/(?<=[\w)\]] )\+(?= [\w(])/g, () => "-"],
  [/(?<=[\w)\]] )-(?= [\w(])/g, () => "+"],
  [/(?<=[\w)\]] )\*(?= [\w(])/g, () => "/"],
];

/** Every small change of the code that a test should notice. */
export function listMutants(source: string): Mutant[] {
  const code = maskSource(source);
  const found: Omit<Mutant, "line">[] = [];
  for (const [pattern, replace] of swaps) {
    for (const { 0: text, index } of code.matchAll(pattern)) {
      const changed = replace(text);
      found.push({
        start: index,
        end: index + text.length,
        text: changed,
        what: `${text} → ${changed || "nothing"}`,
      });
    }
  }
  found.push(...mutateConditions(code), ...dropGuards(code), ...dropStatements(code));
  return found
    .map((mutant) => ({ ...mutant, line: source.slice(0, mutant.start).split("\n").length }))
    .sort((a, b) => a.start - b.start);
}

function* mutateConditions(code: string): Generator<Omit<Mutant, "line">> {
  for (const { index } of code.matchAll(/\bif \(/g)) {
    const start = index + "if (".length;
    const end = endOfCall(code, start);
    for (const text of ["true", "false"]) yield { start, end, text, what: `if (…) → if (${text})` };
  }
}

/** A condition less in a query. */
function* dropGuards(code: string): Generator<Omit<Mutant, "line">> {
  for (const { 0: text, index } of code.matchAll(/\.(?:where|whereRef)\(/g)) {
    const end = endOfCall(code, index + text.length) + 1;
    yield { start: index, end, text: "", what: "a condition of a query is gone" };
  }
}

/** A refusal or a step that is not made. */
function* dropStatements(code: string): Generator<Omit<Mutant, "line">> {
  for (const { 0: text, index } of code.matchAll(
    /(?<=\n\s+)(?:await [\w.]+|throw new \w+|throw \w+|[\w.]+)\((?=.*)/g,
  )) {
    const end = endOfCall(code, index + text.length) + 1;
    if (code[end] !== ";" || /^(?:function|if|for|while|switch|return)\b/.test(text)) continue;
    yield { start: index, end: end + 1, text: ";", what: `${text.slice(0, 40)}…) is gone` };
  }
}

/** Where the bracket closes that was opened before `from`. */
function endOfCall(code: string, from: number): number {
  let depth = 1;
  for (let at = from; at < code.length; at++) {
    const letter = code[at];
    if (letter === "(" || letter === "{" || letter === "[") depth++;
    if (letter === ")" || letter === "}" || letter === "]") depth--;
    if (depth === 0) return at;
  }
  throw new Error("a bracket is never closed");
}
