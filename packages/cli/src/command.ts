import type { Config } from "@upstow/server/config";

export interface OptionSpec {
  /** The value's placeholder in help; flags have none. */
  value?: string;
  description: string;
  isRequired?: boolean;
  /** May be repeated. For any other option, the last value wins. */
  isRepeated?: boolean;
}

export interface PositionalSpec {
  name: string;
  description: string;
  isOptional?: boolean;
  /** Only allowed on the last positional, which collects the remaining arguments. */
  isRepeated?: boolean;
}

export interface Command {
  /** The words that invoke it, such as "account create". */
  name: string;
  summary: string;
  /** The arguments after the name. Optional ones come last. */
  positionals?: PositionalSpec[];
  options?: Record<string, OptionSpec>;
  /** Shown below the options in the command's help. */
  notes?: string;
  run(call: Call): Promise<Result>;
}

export interface Call {
  /** The name of the command. */
  command: string;
  /** Read lazily, so that help works even when the configuration is broken. */
  config(): Config;
  env: NodeJS.ProcessEnv;
  /** Of this program. */
  version: string;
  positionals: string[];
  options: Options;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  signals: Signals;
  /** Prints part of the result to stdout immediately; the value that `run` returns is printed at the end. */
  print(part: Pick<Result, "json" | "text">): void;
  /** Prints a message to stderr; silent with --json. */
  note(text: string): void;
  /** Lines on stderr that the next call replaces; silent with --json or when stderr is not a terminal. */
  progress(text: string): void;
  /** Whether `progress` is visible. */
  showsProgress: boolean;
}

/** Where the command listens for signals: the process itself, except in tests. */
export interface Signals {
  once(signal: NodeJS.Signals, listener: () => void): unknown;
  off(signal: NodeJS.Signals, listener: () => void): unknown;
}

export interface Options {
  find(name: string): string | undefined;
  /** All values of a repeatable option. */
  all(name: string): string[];
  get(name: string): string;
  has(name: string): boolean;
}

export interface Result {
  /** What --json prints. */
  json: object;
  /** What a person reads. */
  text: string;
  /** False if the command ran but found a problem. */
  ok?: boolean;
}

/** The command line is invalid. Exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A problem the operator can fix; the message is one line and says how. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
