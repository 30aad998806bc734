import { UpstowError } from "../errors.ts";
import type { FileInfo, FileSize, RouteRules } from "./file-router.ts";

const units = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

export function toBytes(size: FileSize): number {
  if (typeof size === "number") return size;
  const [, amount, unit] = /^([\d.]+)\s*(B|KB|MB|GB)$/.exec(size) ?? [];
  if (unit === undefined) throw new TypeError(`"${size}" is not a file size; write it as "4MB".`);
  return Math.floor(Number(amount) * units[unit as keyof typeof units]);
}

/** Ignores case and parameters; an empty list allows every type, as on the service. */
export function isAllowedType(allowedTypes: readonly string[], contentType: string): boolean {
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  const family = `${type.split("/", 1)[0]}/*`;
  const isMeant = (entry: string) => ["*/*", family, type].includes(entry.toLowerCase());
  return allowedTypes.length === 0 || allowedTypes.some(isMeant);
}

const mostFiles = 1_000;

/**
 * One answer for each file: some may be welcome while others are not. Throws where the only one is not. A long list
 * comes in several calls, each of which says of how many files it is a part.
 */
export function checkFiles(rules: RouteRules, files: unknown, of?: unknown): (FileInfo | UpstowError)[] {
  if (!Array.isArray(files) || files.length === 0) throw invalid("files", "must name at least one file");
  const { maxFileCount = Number.POSITIVE_INFINITY } = rules;
  const most = files.length > mostFiles ? Math.min(maxFileCount, mostFiles) : maxFileCount;
  if (Math.max(files.length, Number(of) || 0) > most) {
    throw new UpstowError(`At most ${most} ${most === 1 ? "file" : "files"} can be uploaded at once.`, {
      code: "TOO_MANY_FILES",
      status: 400,
    });
  }
  const checked = files.map((file, i) => checkFile(rules, file, `files.${i}`));
  if (checked.length === 1 && checked[0] instanceof UpstowError) throw checked[0];
  return checked;
}

function checkFile(rules: RouteRules, given: unknown, path: string): FileInfo | UpstowError {
  const { name, size, type } = (given ?? {}) as Partial<FileInfo>;
  if (typeof name !== "string" || name === "") throw invalid(`${path}.name`, "must be a file name");
  if (!Number.isSafeInteger(size)) throw invalid(`${path}.size`, "must be the size in bytes");
  // Its message is for whoever chose the file; the others are for whoever wrote the request.
  if (Number(size) < 1) return invalid(`${path}.size`, "must be at least 1", `"${name}" is empty.`);
  if (typeof type !== "string" || !type.includes("/")) throw invalid(`${path}.type`, "must be a MIME type");
  const file = { name, size: Number(size), type };
  const { allowedTypes = [] } = rules;
  if (!isAllowedType(allowedTypes, type)) {
    return new UpstowError(`"${name}" is ${type}, which is not accepted here.`, {
      code: "INVALID_FILE_TYPE",
      status: 400,
      suggestion: `Accepted: ${allowedTypes.join(", ")}.`,
    });
  }
  const most = rules.maxFileSize === undefined ? Number.POSITIVE_INFINITY : toBytes(rules.maxFileSize);
  if (file.size > most) {
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
