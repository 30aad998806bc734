import type { Command, OptionSpec } from "./command.ts";
import { commonOptions } from "./parse-command-line.ts";

export function overview(commands: readonly Command[]): string {
  const rows = commands.map((command) => [usageOf(command), command.summary] as const);
  return `Upstow, file uploads for your application

Usage: upstow <command> [options]

${table(rows)}

Every command takes --json, and --help to say more about it. Commands read the same UPSTOW_* variables as the
service (UPSTOW_DATA_DIR, UPSTOW_DATABASE_URL and the others) and work beside a running service or without one.
Exit codes: 0 done, 1 failed, 2 wrong usage.`;
}

export function helpFor(command: Command): string {
  const sections = [`${command.summary}\n\nUsage: upstow ${usageOf(command)} [--json]`];
  const positionals = command.positionals ?? [];
  if (positionals.length > 0) {
    sections.push(table(positionals.map(({ name, description }) => [`<${name}>`, description] as const)));
  }
  const options = Object.entries({ ...command.options, ...commonOptions });
  sections.push(table(options.map(([name, spec]) => [flagOf(name, spec), spec.description] as const)));
  if (command.notes !== undefined) sections.push(command.notes);
  return sections.join("\n\n");
}

function usageOf(command: Command): string {
  const words = [command.name];
  for (const { name } of command.positionals ?? []) words.push(`<${name}>`);
  for (const [name, spec] of Object.entries(command.options ?? {})) {
    words.push(spec.isRequired === true ? flagOf(name, spec) : `[${flagOf(name, spec)}]`);
  }
  return words.join(" ");
}

function flagOf(name: string, spec: OptionSpec): string {
  return spec.value === undefined ? `--${name}` : `--${name} ${spec.value}`;
}

/** Where the left column is too long, the right one goes to a line of its own. */
function table(rows: (readonly [string, string])[]): string {
  const width = Math.min(32, Math.max(...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) => {
      if (left.length > width) return `  ${left}\n  ${" ".repeat(width)}  ${right}`;
      return `  ${left.padEnd(width)}  ${right}`;
    })
    .join("\n");
}
