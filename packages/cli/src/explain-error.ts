import type { UpstowError } from "@upstow/sdk";
import type { AppError } from "@upstow/server/kernel/errors";
import { OperatorError, UsageError } from "./command.ts";

export interface Explanation {
  code: string;
  /** One line. */
  message: string;
  exitCode: 1 | 2;
}

/** What went wrong and what to do next. */
export function explainError(error: unknown): Explanation {
  const failed = (code: string, message: string): Explanation => ({ code, message, exitCode: 1 });
  if (error instanceof UsageError) return { code: "USAGE", message: error.message, exitCode: 2 };
  if (error instanceof OperatorError) return failed(error.code, error.message);
  if (isNamed(error, "ConfigError")) return failed("CONFIGURATION", error.message);
  if (isAnswered(error)) {
    const advice = advise(error);
    return failed(error.code, advice === "" ? error.message : `${toSentence(error.message)} ${advice}`);
  }
  if (isNamed(error, "DatabaseUnavailable")) {
    return failed(
      "SERVICE_UNAVAILABLE",
      `${upperFirst(error.message)}. Run \`upstow doctor\` to find out why.`,
    );
  }
  if (isNamed(error, "DatabaseReadOnly")) {
    return failed(
      "SERVICE_UNAVAILABLE",
      "The installation is being moved and is read-only. Wait for the move to finish, or cancel it with `upstow migrate storage --abort` or `upstow migrate database --abort`.",
    );
  }
  if (isNamed(error, "StorageFull")) {
    return failed("INSUFFICIENT_STORAGE", `${upperFirst(error.message)}. Make room and try again.`);
  }
  return failed("INTERNAL_ERROR", explainOther(error));
}

const lasting = [
  "CONTENT_MISMATCH",
  "FORBIDDEN",
  "INVALID_FILE_TYPE",
  "NOT_FOUND",
  "TIER_LIMIT_EXCEEDED",
  "UNAUTHORIZED",
  "VALIDATION_ERROR",
];

/** What to do after some of several files failed. */
export function adviseOnRest(failures: readonly { code: string }[]): string {
  return failures.every(({ code }) => lasting.includes(code))
    ? "Correct the errors shown above; the same command skips what is done."
    : "Run the same command again to retry the others.";
}

/** By name, because loading the classes would cost more than everything else a command like --help does. */
function isNamed(error: unknown, ...names: string[]): error is Error {
  return error instanceof Error && names.includes(error.name);
}

function isAnswered(error: unknown): error is AppError | UpstowError {
  return isNamed(error, "AppError", "UpstowError");
}

function advise(error: AppError | UpstowError): string {
  const { code, suggestion } = error;
  // The service's advice about the header only helps callers who write it themselves.
  const isAboutHeader = suggestion?.includes("Authorization: Bearer") ?? true;
  if (code === "UNAUTHORIZED" && isAboutHeader && isNamed(error, "UpstowError")) {
    return "Run `upstow login` with an active key of this project, or set UPSTOW_API_KEY to one.";
  }
  if (suggestion !== undefined) return suggestion;
  if (code === "NETWORK_ERROR" || code === "TIMEOUT") {
    return "Check that the service is running there, or use another one with `upstow login --url <url>`.";
  }
  return code === "UNEXPECTED_ANSWER" ? "Check that the URL is that of an Upstow service." : "";
}

function explainOther(error: unknown): string {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return `${path ?? "A file"} cannot be read or written (${code}). Run the command as a user with access; next to a service, as the service's user.`;
  }
  if (code === "ENOSPC" || code === "EDQUOT") return "The disk is full. Make room and try again.";
  return error instanceof Error ? upperFirst(error.message.replaceAll(/\s*\n\s*/g, " ")) : String(error);
}

/** Messages about a single field have no full stop, because `details` shows them next to its name. */
function toSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
