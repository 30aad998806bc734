import { UpstowError } from "../errors.ts";
import { guessContentType } from "../upload/content-type.ts";

/** Bytes, or a string such as `"4MB"` (1 MB is 1,048,576 bytes). */
export type FileSize = number | `${number}${"B" | "KB" | "MB" | "GB"}`;

/** A file as the browser describes it. */
export interface FileInfo {
  name: string;
  /** Bytes. */
  size: number;
  type: string;
}

const shortTypes = {
  image: "image/*",
  video: "video/*",
  audio: "audio/*",
  text: "text/*",
  font: "font/*",
  pdf: "application/pdf",
} as const;

type ShortType = keyof typeof shortTypes;

/** Listed for autocompletion; any other `type/subtype` is accepted too. */
type KnownType =
  | "*/*"
  | `${Exclude<ShortType, "pdf">}/*`
  | `image/${"avif" | "gif" | "heic" | "jpeg" | "png" | "svg+xml" | "tiff" | "webp"}`
  | `video/${"mp4" | "mpeg" | "ogg" | "quicktime" | "webm" | "x-matroska"}`
  | `audio/${"aac" | "flac" | "mp4" | "mpeg" | "ogg" | "wav" | "webm"}`
  | `text/${"calendar" | "css" | "csv" | "html" | "javascript" | "markdown" | "plain" | "vcard"}`
  | `font/${"otf" | "ttf" | "woff" | "woff2"}`
  | `application/${"epub+zip" | "gzip" | "json" | "msword" | "octet-stream" | "pdf" | "rtf" | "wasm" | "xml" | "zip"}`
  | `application/vnd.ms-${"excel" | "powerpoint"}`
  | `application/vnd.openxmlformats-officedocument.${"presentationml.presentation" | "spreadsheetml.sheet" | "wordprocessingml.document"}`
  | `application/vnd.oasis.opendocument.${"presentation" | "spreadsheet" | "text"}`;

/** A MIME type (`application/pdf`), a family of them (`image/*`, or `image` for short), or `*\/*` for every file. */
export type FileType = ShortType | KnownType | (`${string}/${string}` & {});

export interface FileLimits {
  maxFileSize?: FileSize;
  /** Limits the files added together. */
  maxFileCount?: number;
}

/** `{ image: { maxFileSize: "4MB" }, "application/pdf": { maxFileCount: 1 } }` */
export type LimitsByType = { readonly [Type in ShortType | KnownType]?: FileLimits } & {
  readonly [type: `${string}/${string}`]: FileLimits | undefined;
};

export interface RouteRules extends FileLimits {
  /**
   * A list such as `["image", "application/pdf"]`, or limits for each type. A type's own `maxFileSize` replaces the
   * route's; its `maxFileCount` applies in addition to the route's. Default: every type.
   */
  allowedTypes?: readonly FileType[] | LimitsByType;
}

interface Limits {
  /** Bytes; null for no limit. */
  maxFileSize: number | null;
  maxFileCount: number | null;
}

/** A route's rules in normalised form. */
export interface CheckedRules extends Limits {
  /** `type/subtype`, `type/*` or `*\/*`, in lower case; empty means every type. */
  allowedTypes: string[];
  /** Per type, where they differ. */
  limits?: Record<string, Limits>;
}

/** Throws if a rule could never be met, so that mistakes show up when the server starts. */
export function checkRules({ allowedTypes = [], ...rules }: RouteRules): CheckedRules {
  const overall = toLimits(rules);
  if (typeof allowedTypes !== "object" || allowedTypes === null)
    throw new TypeError(`allowedTypes must be a list. Write ["${allowedTypes}"].`);
  if (isList(allowedTypes)) return { allowedTypes: toMediaRanges(allowedTypes), ...overall };
  const types = toMediaRanges(Object.keys(allowedTypes));
  const given = Object.entries<FileLimits | undefined>(allowedTypes).map(([type, limits = {}]) => {
    checkOptions(limits, limitNames, `the limits of "${type}"`);
    return toLimits(limits);
  });
  const limits = given.map(({ maxFileSize, maxFileCount }) => ({
    maxFileSize: maxFileSize ?? overall.maxFileSize,
    maxFileCount,
  }));
  const sizes = limits.map(({ maxFileSize }) => maxFileSize ?? Number.POSITIVE_INFINITY);
  const counts = limits.map(({ maxFileCount }) => maxFileCount ?? Number.POSITIVE_INFINITY);
  const sum = counts.reduce((total, count) => total + count, 0);
  return {
    allowedTypes: types,
    maxFileSize: types.length === 0 ? overall.maxFileSize : orNull(Math.max(...sizes)),
    maxFileCount: overall.maxFileCount ?? (types.length === 0 ? null : orNull(sum)),
    ...(types.length < 2 ? {} : { limits: Object.fromEntries(types.map((type, i) => [type, limits[i]])) }),
  } as CheckedRules;
}

const isList = (types: readonly string[] | object): types is readonly string[] => Array.isArray(types);
const orNull = (limit: number) => (Number.isFinite(limit) ? limit : null);

const limitNames = ["maxFileSize", "maxFileCount"];
export const ruleNames = ["allowedTypes", ...limitNames];

/** Untyped code would otherwise believe in a limit whose name it misspelt. */
export function checkOptions(given: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`"${unknown}" is not an option of ${where}. Use one of ${known.join(", ")}.`);
}

function toLimits({ maxFileSize, maxFileCount }: FileLimits): Limits {
  if (maxFileCount !== undefined && !(Number.isInteger(maxFileCount) && maxFileCount > 0))
    throw new TypeError(`maxFileCount must be a whole number of at least 1, not ${maxFileCount}.`);
  return {
    maxFileSize: maxFileSize === undefined ? null : toBytes(maxFileSize),
    maxFileCount: maxFileCount ?? null,
  };
}

const units = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

function toBytes(size: FileSize): number {
  const text = typeof size === "number" ? `${size}B` : String(size);
  const [, amount, unit] = /^([\d.]+)\s*(B|KB|MB|GB)$/.exec(text) ?? [];
  const bytes = Math.floor(Number(amount) * units[unit as keyof typeof units]);
  // Any other number would be no limit at all, or one that no file can meet.
  if (Number.isFinite(bytes) && bytes >= 1) return bytes;
  throw new TypeError(`${JSON.stringify(size)} is not a file size; write it as "4MB".`);
}

const mediaRange = /^(\*\/\*|[a-z0-9!#$&^_.+-]+\/(\*|[a-z0-9!#$&^_.+-]+))$/;

function toMediaRanges(given: readonly string[]): string[] {
  const types: string[] = given.map((type) => shortTypes[type as ShortType] ?? String(type).toLowerCase());
  for (const [i, type] of types.entries()) {
    // A common mistake is to write extensions: no browser reports "jpg" or "image/jpg".
    const [family, name = family ?? ""] = type.split("/");
    const meant = guessContentType(`x.${name.replace(/^\./, "")}`);
    const isAlias = type !== meant && meant?.startsWith(`${family}/`) === true && !types.includes(meant);
    if (mediaRange.test(type) && !isAlias) continue;
    throw new TypeError(
      `allowedTypes: "${given[i]}" is not a file type. ${
        meant === undefined
          ? 'Write a MIME type such as "application/pdf", a family such as "image/*" (or "image"), or "*/*" for every file.'
          : `Write "${meant}".`
      }`,
    );
  }
  return types;
}

/** The most specific entry wins. */
function findRange<Found>(
  contentType: string,
  find: (range: string) => Found | undefined,
): Found | undefined {
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  return find(type) ?? find(`${type.split("/", 1)[0]}/*`) ?? find("*/*");
}

const mostFiles = 1_000;

/**
 * One result per file: some may be accepted and others rejected. Throws if the only file is rejected. A long list is
 * split over several calls, each of which states the total number of files.
 */
export function checkFiles(rules: CheckedRules, files: unknown, of?: unknown): (FileInfo | UpstowError)[] {
  if (!Array.isArray(files) || files.length === 0) throw invalid("files", "must list at least one file");
  const maxFileCount = rules.maxFileCount ?? Number.POSITIVE_INFINITY;
  const most = files.length > mostFiles ? Math.min(maxFileCount, mostFiles) : maxFileCount;
  if (Math.max(files.length, Number(of) || 0) > most) throw tooMany(most);
  const checked = files.map((file, i) => checkFile(rules, file, `files.${i}`));
  const counts = new Map<string, number>();
  for (const file of checked) {
    if (file instanceof UpstowError) continue;
    const range = findRange(file.type, (entry) => (rules.limits?.[entry] ? entry : undefined)) ?? "";
    const count = (counts.get(range) ?? 0) + 1;
    const mostOfType = rules.limits?.[range]?.maxFileCount ?? count;
    if (count > mostOfType) throw tooMany(mostOfType, ` of type ${range}`);
    counts.set(range, count);
  }
  if (checked.length === 1 && checked[0] instanceof UpstowError) throw checked[0];
  return checked;
}

function tooMany(most: number, ofType = ""): UpstowError {
  const files = `${most} ${most === 1 ? "file" : "files"}${ofType}`;
  return new UpstowError(`At most ${files} can be uploaded at once.`, {
    code: "TOO_MANY_FILES",
    status: 400,
  });
}

export function checkFile(rules: CheckedRules, given: unknown, path: string): FileInfo | UpstowError {
  const { name, size, type } = (given ?? {}) as Partial<FileInfo>;
  if (typeof name !== "string" || name === "") throw invalid(`${path}.name`, "must be a file name");
  if (!Number.isSafeInteger(size)) throw invalid(`${path}.size`, "must be the size in bytes");
  // This message is for the user who selected the file; the others are for the developer.
  if (Number(size) < 1) return invalid(`${path}.size`, "must be at least 1", `"${name}" is empty.`);
  if (typeof type !== "string" || !type.includes("/")) throw invalid(`${path}.type`, "must be a MIME type");
  const file = { name, size: Number(size), type };
  const { allowedTypes } = rules;
  const isAllowed = findRange(type, (range) => allowedTypes.includes(range) || undefined);
  if (allowedTypes.length > 0 && !isAllowed) {
    return new UpstowError(`"${name}" is ${type}, which is not accepted here.`, {
      code: "INVALID_FILE_TYPE",
      status: 400,
      suggestion: `Accepted: ${allowedTypes.join(", ")}.`,
    });
  }
  const { maxFileSize: most } = findRange(type, (range) => rules.limits?.[range]) ?? rules;
  if (most !== null && file.size > most) {
    return new UpstowError(`"${name}" has ${file.size} bytes; at most ${most} are allowed.`, {
      code: "FILE_TOO_LARGE",
      status: 413,
      suggestion: "Choose a smaller file.",
    });
  }
  return file;
}

export function invalid(path: string, message: string, text = `${path} ${message}.`): UpstowError {
  return new UpstowError(text, {
    code: "VALIDATION_ERROR",
    status: 400,
    details: [{ path, message }],
  });
}
