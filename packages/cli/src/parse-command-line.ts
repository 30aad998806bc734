import { parseArgs } from "node:util";
import { type Command, type OptionSpec, type Options, UsageError } from "./command.ts";
import { didYouMean } from "./nearest.ts";

export const commonOptions: Record<string, OptionSpec> = {
  json: { description: "print the result as JSON, and errors as JSON on stderr" },
  help: { description: "show this help" },
};

export interface ParsedCall {
  positionals: string[];
  options: Options;
}

/** Parses the arguments after the command's name. Every error is one sentence that names the argument. */
export function parseCommandLine(command: Command, args: string[]): ParsedCall {
  const specs = { ...command.options, ...commonOptions };
  const { tokens } = parseArgs({
    args,
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(specs).map(([name, spec]) => [
        name,
        { type: spec.value === undefined ? "boolean" : "string", ...(name === "help" && { short: "h" }) },
      ]),
    ),
  });
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const value = readOption(token, specs, args[token.index] ?? "");
    values.set(token.name, [...(values.get(token.name) ?? []), value]);
  }
  const options = createOptions(values);
  if (!options.has("help")) requireEverything(command, positionals, options);
  return { positionals, options };
}

interface OptionToken {
  name: string;
  rawName: string;
  value: string | undefined;
  inlineValue: boolean | undefined;
}

function readOption(token: OptionToken, specs: Record<string, OptionSpec>, word: string): string {
  const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
  if (spec === undefined) {
    const known = Object.keys(specs).map((name) => `--${name}`);
    const hint = token.rawName.startsWith("--")
      ? didYouMean(token.rawName, known)
      : ` To pass a value that begins with a dash, put it after two dashes: \`-- ${word}\`.`;
    throw new UsageError(`There is no option ${token.rawName}.${hint}`);
  }
  if (spec.value === undefined) {
    if (token.value !== undefined) throw new UsageError(`${token.rawName} does not accept a value.`);
    return "";
  }
  if (token.value === undefined) throw new UsageError(`${token.rawName} needs a value: ${spec.value}.`);
  if (token.inlineValue !== true && token.value.startsWith("--")) {
    throw new UsageError(
      `${token.rawName} needs a value before ${token.value}; write ${token.rawName}=${token.value} if you mean that.`,
    );
  }
  return token.value;
}

function requireEverything(command: Command, positionals: string[], options: Options): void {
  const wanted = command.positionals ?? [];
  const missing = wanted[positionals.length];
  if (missing !== undefined && missing.isOptional !== true)
    throw new UsageError(`<${missing.name}> is missing: ${missing.description}.`);
  if (positionals.length > wanted.length && wanted.at(-1)?.isRepeated !== true) {
    throw new UsageError(`"${positionals[wanted.length]}" is an unexpected argument.`);
  }
  for (const [name, spec] of Object.entries(command.options ?? {})) {
    if (spec.isRequired === true && !options.has(name)) {
      throw new UsageError(`--${name} is missing: ${spec.description}.`);
    }
  }
}

function createOptions(values: Map<string, string[]>): Options {
  const find = (name: string) => values.get(name)?.at(-1);
  return {
    find,
    all: (name) => values.get(name) ?? [],
    get(name) {
      const value = find(name);
      if (value === undefined) throw new Error(`the option ${name} was not required`);
      return value;
    },
    has: (name) => values.has(name),
  };
}
