import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { type Call, UsageError } from "./command.ts";

/** Of an option, of standard input (`-`), or typed by the user without being shown. */
export async function readSecret(call: Call, option: string, question: string): Promise<string> {
  const given = call.options.find(option);
  if (given !== undefined && given !== "-") return given;
  const secret =
    given === "-" || call.stdin.isTTY !== true ? await text(call.stdin) : await ask(call, question);
  if (secret.trim() === "")
    throw new UsageError(`--${option} is missing: give it, or write it to standard input.`);
  return secret.trim();
}

async function ask(call: Call, question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: call.stdin, output: nowhere, terminal: true });
  // From here on the terminal echoes nothing, however fast somebody types.
  call.note(question);
  try {
    return await lines.question("");
  } finally {
    lines.close();
  }
}
