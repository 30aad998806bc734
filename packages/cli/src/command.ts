import type { Config } from "@upstow/server/config";

export interface OptionSpec {
  /** How help names the value; a flag has none. */
  value?: string;
  description: string;
  isRequired?: boolean;
  /** May be given several times; of any other the last one counts. */
  isRepeated?: boolean;
}

export interface PositionalSpec {
  name: string;
  description: string;
  isOptional?: boolean;
  /** Only the last one: it takes all that follow. */
  isRepeated?: boolean;
}

export interface Command {
  /** The words that call it, such as "account create". */
  name: string;
  summary: string;
  /** The arguments that follow the name. All are needed but those that say otherwise, which come last. */
  positionals?: PositionalSpec[];
  options?: Record<string, OptionSpec>;
  /** Shown below the options in the command's help. */
  notes?: string;
  run(call: Call): Promise<Result>;
}

export interface Call {
  /** Read when first asked for, so that help works beside a broken configuration. */
  config(): Config;
  env: NodeJS.ProcessEnv;
  positionals: string[];
  options: Options;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  signals: Signals;
  /** Shows a part of the result on stdout at once; what `run` returns follows at the end. */
  print(part: Pick<Result, "json" | "text">): void;
  /** Tells the operator something on stderr; silent with --json. */
  note(text: string): void;
  /** Lines on stderr that the next ones replace; silent with --json and where stderr is not a terminal. */
  progress(text: string): void;
  /** Whether anyone sees `progress`. */
  showsProgress: boolean;
}

/** How the command is told to end: the process itself, outside of tests. */
export interface Signals {
  once(signal: NodeJS.Signals, listener: () => void): unknown;
  off(signal: NodeJS.Signals, listener: () => void): unknown;
}

export interface Options {
  find(name: string): string | undefined;
  /** Of an option that may be given several times. */
  all(name: string): string[];
  get(name: string): string;
  has(name: string): boolean;
}

export interface Result {
  /** What --json prints. */
  json: object;
  /** What a person reads. */
  text: string;
  /** False: the command did its work and found something wrong. */
  ok?: boolean;
}

/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What the operator can mend, in one line that says how. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
