import { isUtf8 } from "node:buffer";
import {
  BODY_MAX_DEPTH,
  BODY_MAX_KEYS,
  BODY_MAX_VALUES,
  HEADERS_MAX,
  QUERY_PARAMS_MAX,
  REQUEST_URL_MAX,
} from "@upstow/contract";
import type { FastifyInstance } from "fastify";
import { AppError, invalid } from "../kernel/errors.ts";

/** Maximum digits of a number in an error message. */
const longestShown = 40;
/** Only these can be misread, and in valid UTF-8 only these produce NUL or half a character. */
const telling = /\\[u/]/;
const nul = /(?<!\\)(?:\\\\)*\\u0000/;
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
  const { colons, longestNumber } = checkShape(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError("VALIDATION_ERROR", "The body is not valid JSON.", {
      suggestion: "Check quotes and commas.",
    });
  }
  // Looking for one character takes a tenth of the time.
  if (text.includes("\\") && telling.test(text)) value = parseEscaped(text);
  if (countKeys(value) !== colons) throw invalid("body", "has the same key twice in one object");
  // Fewer digits are always exact.
  if (longestNumber >= 16) checkNumbers(text);
  return value;
}

/**
 * V8 mistakes an escaped key for one it has seen after the same keys, if that one's letters are those of the escape:
 * once someone has sent the key `\\u00`, everyone else's `\u00e9abc` becomes that. So escapes are decoded first, in a
 * text known to be valid: otherwise decoding could make invalid escapes outside of strings valid.
 */
function parseEscaped(text: string): unknown {
  if (nul.test(text)) throw invalid("body", "must not contain the NUL character");
  const plain = writeOutEscapes(text);
  if (!plain.isWellFormed()) throw invalid("body", "must be well-formed Unicode");
  return JSON.parse(plain);
}

/** Unit by unit, because concatenating pieces for 100,000 escapes would block everyone. */
function writeOutEscapes(text: string): string {
  const units = new Uint16Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const kind = unit === 0x5c ? text.charCodeAt(i + 1) : 0;
    const code = kind === 0x75 ? readHex(text, i + 2) : 0;
    // Control characters, the quote and the backslash are only allowed in a string when escaped.
    if (code >= 0x20 && code !== 0x22 && code !== 0x5c) {
      units[length++] = code;
      i += 5;
    } else if (kind === 0x2f) {
      units[length++] = kind;
      i++;
    } else {
      units[length++] = unit;
      // The second of two backslashes does not start an escape.
      if (kind === 0x5c) units[length++] = text.charCodeAt(++i);
    }
  }
  return Buffer.from(units.buffer, 0, length * 2).toString("utf16le");
}

/** Four hexadecimal digits of either case. */
function readHex(text: string, start: number): number {
  let value = 0;
  for (let i = start; i < start + 4; i++) {
    const unit = text.charCodeAt(i);
    value = value * 16 + (unit & 15) + (unit > 0x39 ? 9 : 0);
  }
  return value;
}

/** Scans the text, because a reviver with access to the source would block everyone for a second. */
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
    `has ${shown}, which JSON numbers cannot represent exactly; send it as a string`,
    `Put it in quotes, for example "metadata": { "orderId": "${shown}" }.`,
  );
}

/** A 64-bit id from another language would come back as a different id. */
function isExact(source: string): boolean {
  const value = Number(source);
  return !/^-?\d+$/.test(source) || String(value) === source || BigInt(source) === BigInt(value);
}

/** Counts keys of a value and everything in it. */
function countKeys(value: unknown): number {
  if (typeof value === "number" && !Number.isFinite(value))
    throw invalid("body", "contains a number that is too large");
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) keys += countKeys(item);
    return keys;
  }
  for (const key in value) keys += 1 + countKeys((value as Record<string, unknown>)[key]);
  return keys;
}

/**
 * Rejects a text that would take far longer to parse than its length suggests, before it is parsed. Returns the
 * number of colons outside of strings: every key in valid JSON is followed by one, so more colons than keys means a
 * duplicate key.
 */
function checkShape(text: string): Shape {
  const shape = measure(text);
  const { colons, commas, deepest } = shape;
  if (deepest > BODY_MAX_DEPTH) throw invalid("body", `must not be nested deeper than ${BODY_MAX_DEPTH}`);
  if (colons > BODY_MAX_KEYS) throw invalid("body", `must not have more than ${BODY_MAX_KEYS} keys`);
  if (commas > BODY_MAX_VALUES) throw invalid("body", `must not have more than ${BODY_MAX_VALUES} values`);
  return shape;
}

/** Of the text outside of strings. */
interface Shape {
  colons: number;
  commas: number;
  deepest: number;
  /** The longest run of digits. */
  longestNumber: number;
}

function measure(text: string): Shape {
  let [colons, commas, depth, deepest, digits, longestNumber] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char >= 0x30 && char <= 0x39) {
      digits++;
      longestNumber = Math.max(longestNumber, digits);
      continue;
    }
    digits = 0;
    if (char === 0x22) {
      i = endOfString(text, i);
      if (i === -1) break;
    } else if (char === 0x3a) colons++;
    else if (char === 0x2c) commas++;
    else if (char === 0x7b || char === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (char === 0x7d || char === 0x5d) depth--;
  }
  return { colons, commas, deepest, longestNumber };
}

/** -1 if there is none. */
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

/** Rejects requests larger than any of our clients send, before anything is looked up. */
export function limitRequestSize(app: FastifyInstance): void {
  app.addHook("onRequest", ({ raw, url }, _reply, done) => {
    // Names and values alternate.
    if (raw.rawHeaders.length > 2 * HEADERS_MAX)
      throw tooLarge(431, `A request can have at most ${HEADERS_MAX} headers.`);
    if (url.length > REQUEST_URL_MAX)
      throw (
        app.editedSignedUrl(url) ?? tooLarge(414, `A URL can have at most ${REQUEST_URL_MAX} characters.`)
      );
    if (countParams(url) > QUERY_PARAMS_MAX)
      throw (
        app.editedSignedUrl(url) ??
        tooLarge(400, `A URL can have at most ${QUERY_PARAMS_MAX} query parameters.`)
      );
    done();
  });
}

function countParams(url: string): number {
  let count = 0;
  for (let at = url.indexOf("?"); at !== -1; at = url.indexOf("&", at + 1)) count++;
  return count;
}

function tooLarge(status: number, message: string): AppError {
  return new AppError("VALIDATION_ERROR", message, { status, suggestion: "Send a smaller request." });
}
