import type { Command, OptionSpec, PositionalSpec } from "./command.ts";
import { commonOptions } from "./parse-command-line.ts";

export function overview(userCommands: readonly Command[], operatorCommands: readonly Command[]): string {
  const sections = [
    "Upstow, file uploads for your application",
    "Usage: upstow <command> [options]",
    "With an API key, for any service (UPSTOW_URL and UPSTOW_API_KEY, or `upstow login`):",
    listCommands(userCommands),
  ];
  if (operatorCommands.length > 0) {
    sections.push(
      "For operators, on the service's machine, whether or not it is running (with the service's UPSTOW_* variables):",
      listCommands(operatorCommands),
    );
  }
  sections.push(`Every command accepts --json, and --help for details.
Exit codes: 0 done, 1 failed, 2 wrong usage.`);
  return sections.join("\n\n");
}

export function listCommands(commands: readonly Command[]): string {
  return table(commands.map((command) => [usageOf(command), command.summary] as const));
}

export function helpFor(command: Command): string {
  const sections = [`${command.summary}\n\nUsage: upstow ${usageOf(command)} [--json]`];
  const positionals = command.positionals ?? [];
  if (positionals.length > 0) {
    sections.push(table(positionals.map((spec) => [argumentOf(spec), spec.description] as const)));
  }
  const options = Object.entries({ ...command.options, ...commonOptions });
  sections.push(table(options.map(([name, spec]) => [flagOf(name, spec), spec.description] as const)));
  if (command.notes !== undefined) sections.push(command.notes);
  return sections.join("\n\n");
}

function usageOf(command: Command): string {
  const words = [command.name];
  for (const positional of command.positionals ?? []) words.push(argumentOf(positional));
  for (const [name, spec] of Object.entries(command.options ?? {})) {
    words.push(spec.isRequired === true ? flagOf(name, spec) : `[${flagOf(name, spec)}]`);
  }
  return words.join(" ");
}

function argumentOf({ name, isOptional, isRepeated }: PositionalSpec): string {
  const word = isRepeated === true ? `${name}…` : name;
  return isOptional === true ? `[${word}]` : `<${word}>`;
}

function flagOf(name: string, spec: OptionSpec): string {
  const flag = spec.value === undefined ? `--${name}` : `--${name} ${spec.value}`;
  return spec.isRepeated === true ? `${flag}…` : flag;
}

/** If the left column is too long, the right one goes on the next line. */
function table(rows: (readonly [string, string])[]): string {
  const width = Math.min(32, Math.max(...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) => {
      if (left.length > width) return `  ${left}\n  ${" ".repeat(width)}  ${right}`;
      return `  ${left.padEnd(width)}  ${right}`;
    })
    .join("\n");
}
