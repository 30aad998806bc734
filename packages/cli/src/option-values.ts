import { type Options, UsageError } from "./command.ts";
import { didYouMean } from "./nearest.ts";

/** One of a few words. */
export function readChoice<const T extends string>(what: string, value: string, choices: readonly T[]): T {
  const choice = choices.find((known) => known === value.toLowerCase());
  if (choice === undefined) {
    throw new UsageError(
      `${what} must be one of ${choices.join(", ")}, not "${value}".${didYouMean(value, choices)}`,
    );
  }
  return choice;
}

const largestNumber = 1_000_000_000;

/** A whole number, or null for the word "none". */
export function readNumberOrNone(what: string, value: string, least: number): number | null {
  if (value.toLowerCase() === "none") return null;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < least || number > largestNumber) {
    throw new UsageError(
      `${what} must be a whole number from ${least} to ${largestNumber}, or none, not "${value}".`,
    );
  }
  return number;
}

export function readCount(what: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new UsageError(`${what} must be a whole number of at least 1, not "${value}".`);
}

/** The value of `--metadata`. */
export function readMetadata(options: Options): Record<string, unknown> | undefined {
  const text = options.find("metadata");
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Falls through to the error below.
  }
  throw new UsageError(`--metadata must be a JSON object such as {"album":7}, not "${text}".`);
}
