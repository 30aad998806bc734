import type { Config } from "@upstow/server/config";
import { type Command, type Result, type Signals, UsageError } from "./command.ts";
import { explainError } from "./explain-error.ts";
import { printableJson, withoutMarks } from "./format.ts";
import { helpFor, listCommands, overview } from "./help.ts";
import { didYouMean } from "./nearest.ts";
import { parseCommandLine } from "./parse-command-line.ts";
import { createTerminal } from "./terminal.ts";

export interface Io extends Signals {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
}

/** The available commands: all of them in a checkout, only those that need no installation elsewhere. */
export interface Program {
  version: string;
  userCommands: readonly Command[];
  operatorCommands: readonly Command[];
  readConfig(env: NodeJS.ProcessEnv): Config;
}

/** Returns the exit code. Results go to stdout, everything else to stderr. */
export async function runCli(args: string[], io: Io, program: Program): Promise<number> {
  // Determined before parsing, so that parse errors are printed as JSON too.
  const isJson = args.includes("--json");
  for (const stream of [io.stdout, io.stderr]) stream.on("error", endWithReader);
  const terminal = createTerminal(io.stderr, isJson);
  try {
    return await dispatch(args, io, program, isJson, terminal);
  } catch (error) {
    const { code, message, exitCode } = explainError(error);
    terminal.clear();
    io.stderr.write(
      isJson ? `${printableJson({ error: { code, message } })}\n` : `upstow: ${withoutMarks(message)}\n`,
    );
    return exitCode;
  }
}

/** The reader, such as `head`, closed the pipe: exit with the code of a process killed by SIGPIPE. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  process.exit(141);
}

async function dispatch(
  args: string[],
  io: Io,
  program: Program,
  isJson: boolean,
  terminal: ReturnType<typeof createTerminal>,
): Promise<number> {
  const print = (text: string) => void io.stdout.write(`${text}\n`);
  const words = args[0] === "help" ? [...args.slice(1), "--help"] : args;
  const answer = findGeneralAnswer(words, program);
  if (answer !== null) {
    print(answer);
    return 0;
  }
  const { command, rest } = findCommand(optionsLast(words), program);
  const { positionals, options } = parseCommandLine(command, rest);
  if (options.has("help")) {
    print(helpFor(command));
    return 0;
  }
  const show = ({ json, text }: Pick<Result, "json" | "text">) => {
    terminal.clear();
    print(isJson ? printableJson(json) : withoutMarks(text));
  };
  const result = await command.run({
    command: command.name,
    config: () => program.readConfig(io.env),
    env: io.env,
    version: program.version,
    positionals,
    options,
    stdin: io.stdin,
    signals: io,
    print: show,
    note: terminal.note,
    progress: terminal.progress,
    showsProgress: terminal.showsProgress,
  });
  show(result);
  return result.ok === false ? 1 : 0;
}

function findGeneralAnswer(words: string[], program: Program): string | null {
  if (words[0] === "--version") return program.version;
  const isHelp = (word: string) => ["--help", "-h"].includes(word);
  const [group, ...more] = words.filter((word) => !isHelp(word) && word !== "--json");
  if (!words.some(isHelp) || more.length > 0) return null;
  if (group === undefined) return overview(program.userCommands, program.operatorCommands);
  const commands = [...program.userCommands, ...program.operatorCommands];
  const members = commands.filter((command) => command.name.startsWith(`${group} `));
  const isCommand = commands.some((command) => command.name === group);
  return members.length === 0 || isCommand ? null : listCommands(members);
}

/** `upstow --json key revoke` and `upstow key --json revoke` mean what `upstow key revoke --json` does. */
function optionsLast(words: string[]): string[] {
  const first = words.findIndex((word) => !word.startsWith("-"));
  const moved = first <= 0 ? words : [...words.slice(first), ...words.slice(0, first)];
  const [group = "", second, ...rest] = moved;
  return second === "--json" ? [group, ...rest, second] : moved;
}

function findCommand(
  words: string[],
  { userCommands, operatorCommands }: Program,
): { command: Command; rest: string[] } {
  const commands = [...userCommands, ...operatorCommands];
  for (const command of commands) {
    const name = command.name.split(" ");
    if (name.every((word, i) => words[i] === word)) return { command, rest: words.slice(name.length) };
  }
  const said = words.filter((word) => !word.startsWith("-")).slice(0, 2);
  const group = commands.filter((command) => command.name.startsWith(`${said[0]} `));
  const names = commands.map((command) => command.name);
  if (said.length === 0) throw new UsageError("No command given. `upstow --help` lists the commands.");
  if (said.length === 1 && group.length > 0) {
    const choices = group.map((command) => command.name).join(", ");
    throw new UsageError(`${said[0]} is a group of commands: ${choices}.`);
  }
  const hint =
    didYouMean(said.join(" "), names) ||
    didYouMean(said[0] ?? "", names) ||
    didYouMean(said[0] ?? "", groupsOf(commands));
  throw new UsageError(
    `There is no command "${said.join(" ")}".${hint} \`upstow --help\` lists the commands.`,
  );
}

function groupsOf(commands: readonly Command[]): string[] {
  return [...new Set(commands.map((command) => command.name.split(" ")[0] ?? ""))];
}
