import { spawn } from "node:child_process";

/** A failure whose message already tells the reader what happened and what to do. */
export class SetUpError extends Error {}

/**
 * Runs a command without showing its output. stdout and stderr come back together, in order of arrival.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export function runCaptured(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const collect = (chunk) => {
      output += chunk;
    };
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    child.on("error", (error) => resolve({ ok: false, output: `${output}${error.message}` }));
    child.on("close", (code) => resolve({ ok: code === 0, output }));
  });
}

/** @param {string} output */
export function lastLines(output, count = 20) {
  const lines = output.trimEnd().split("\n").slice(-count);
  return lines.map((line) => `    ${line}`).join("\n");
}

/** @param {number} startedMs */
export function secondsSince(startedMs) {
  return `${((Date.now() - startedMs) / 1000).toFixed(1)} s`;
}
