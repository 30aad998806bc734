import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** `script` gives the command a terminal of its own. Types the answer when the question is there. */
export async function runAtTerminal(
  args: string[],
  env: Record<string, string>,
  dialog: { question: RegExp; answer: string } | null = null,
): Promise<string> {
  const command = [process.execPath, "--disable-warning=ExperimentalWarning", main, ...args];
  const child = spawn("script", ["-qec", command.map((word) => `'${word}'`).join(" "), "/dev/null"], {
    env: { PATH: process.env["PATH"], SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  let isAnswered = false;
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    shown += chunk;
    if (isAnswered || dialog?.question.test(shown) !== true) continue;
    isAnswered = true;
    child.stdin.write(dialog.answer);
  }
  assert.equal(child.exitCode ?? (await new Promise((resolve) => child.once("exit", resolve))), 0, shown);
  return shown;
}
