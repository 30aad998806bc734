import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { type Call, UsageError } from "./command.ts";

/** From an option, from standard input (`-`), or typed by the user without echo. */
export async function readSecret(call: Call, option: string, question: string): Promise<string> {
  const given = call.options.find(option);
  if (given !== undefined && given !== "-") return given;
  const secret =
    given === "-" || call.stdin.isTTY !== true ? await text(call.stdin) : await ask(call, question);
  if (secret.trim() === "")
    throw new UsageError(`--${option} is missing: pass it, or pipe it to standard input.`);
  return secret.trim();
}

async function ask(call: Call, question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: call.stdin, output: nowhere, terminal: true });
  // From here on the terminal echoes nothing, however fast the user types.
  call.note(question);
  try {
    return await lines.question("");
  } finally {
    lines.close();
  }
}
