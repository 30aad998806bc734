/** What was asked for makes no sense; the message says why. */
export class UsageError extends Error {}

/** What `read` makes of the command line. A mistake in it is named above the usage, and ends the process. */
export function readOrExplain<T>(usage: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isMistake(error)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}\n`);
    process.exit(2);
  }
}

function isMistake(error: unknown): error is Error {
  // Of parseArgs.
  const code = String((error as { code?: unknown }).code ?? "");
  return error instanceof UsageError || code.startsWith("ERR_PARSE_ARGS_");
}
