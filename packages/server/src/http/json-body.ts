import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { AppError, invalid } from "../errors.ts";

const deepest = 100;
const mostKeys = 50_000;
/** Digits of a number in an error message. */
const longestShown = 40;
/** Only these can be misread, and of valid UTF-8 only these make NUL or half a character. */
const telling = /\\[u/]/;
const nul = /(?<!\\)(?:\\\\)*\\u0000/;
/** Those with a code that need no escape, and all others, so that the second of two backslashes begins none. */
const anyEscape = /\\(?:u(?!00[01]|0022|005c)([0-9a-f]{4})|.)/gi;

/** JSON is the only body the API reads. A plain JSON.parse keeps "__proto__" as harmless data. */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    try {
      const encoding = request.headers["content-encoding"];
      if (encoding !== undefined && encoding !== "identity") {
        throw invalid("body", "must not be compressed");
      }
      if (!isUtf8(body)) throw invalid("body", "must be UTF-8");
      request.bodyText = body.toString("utf8");
      done(null, request.bodyText === "" ? undefined : parseJson(request.bodyText));
    } catch (error) {
      done(error as Error);
    }
  });
}

export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError("VALIDATION_ERROR", "The body is not valid JSON.", {
      suggestion: "Check quotes and commas.",
    });
  }
  if (telling.test(text)) value = parseEscaped(text);
  if (countKeys(value, 0) !== countColons(text))
    throw invalid("body", "names the same key twice in one object");
  // Fewer digits are always kept exactly.
  if (/\d{16}/.test(text)) checkNumbers(text);
  return value;
}

/**
 * V8 reads an escaped key as one that it met before behind the same keys, if the letters of that one are those of the
 * escape: once somebody has sent the key `\\u00`, it is what `\u00e9abc` of everybody else becomes. So escapes are
 * written out, in a text that is known to be valid: outside of strings they would become so.
 */
function parseEscaped(text: string): unknown {
  if (nul.test(text)) throw invalid("body", "must not hold the NUL character");
  const plain = text.replaceAll(anyEscape, (whole, code?: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return whole === "\\/" ? "/" : whole;
  });
  if (!plain.isWellFormed()) throw invalid("body", "must hold well-formed Unicode");
  return JSON.parse(plain);
}

/** In the text: a reviver, which is told what a number was made of, would hold everybody up for a second. */
function checkNumbers(text: string): void {
  const stringOrLongNumber = /"|-?\d[\d.eE+-]{15,}/g;
  for (let found = stringOrLongNumber.exec(text); found !== null; found = stringOrLongNumber.exec(text)) {
    const [source] = found;
    if (source === '"') stringOrLongNumber.lastIndex = endOfString(text, found.index) + 1;
    else if (!isExact(source)) throw inexact(source);
  }
}

function inexact(source: string): AppError {
  const shown = source.length > longestShown ? `${source.slice(0, longestShown)}…` : source;
  return invalid(
    "body",
    `holds ${shown}, which no JSON number keeps exactly; send it as a string`,
    `Put it in quotes, for example "metadata": { "orderId": "${shown}" }.`,
  );
}

/** A 64-bit id of another language would come back as another id. */
function isExact(source: string): boolean {
  const value = Number(source);
  return !/^-?\d+$/.test(source) || String(value) === source || BigInt(source) === BigInt(value);
}

/** Of a value and all in it; refuses what would cost more than it says. */
function countKeys(value: unknown, depth: number): number {
  if (depth > deepest) throw invalid("body", `must not be nested deeper than ${deepest}`);
  if (typeof value === "number" && !Number.isFinite(value)) throw invalid("body", "holds a number too large");
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += countKeys(item, depth + 1);
    return keys;
  }
  for (const key in value) keys += 1 + countKeys((value as Record<string, unknown>)[key], depth + 1);
  if (keys > mostKeys) throw invalid("body", `must not have more than ${mostKeys} keys`);
  return keys;
}

/** Every key of valid JSON is followed by one colon, so more colons outside of strings means a key came twice. */
function countColons(text: string): number {
  let colons = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === 0x3a) colons++;
    else if (char === 0x22) i = endOfString(text, i);
  }
  return colons;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
}
