import { createInterface } from "node:readline/promises";
import { type Call, UsageError } from "./command.ts";

/** Asks on the terminal. Without a terminal, --yes is required. */
export async function confirm(call: Call, question: string): Promise<boolean> {
  if (call.options.has("yes")) return true;
  if (call.stdin.isTTY !== true)
    throw new UsageError("Pass --yes to continue, or --dry-run to see what would change.");
  call.note(`${question} [y/N]`);
  const lines = createInterface({ input: call.stdin });
  try {
    return /^y(es)?$/i.test((await lines.question("")).trim());
  } finally {
    lines.close();
  }
}
