import type { Call } from "./command.ts";

/** What a shell reports for a program that Ctrl-C ended. */
const exitCodeOfInterrupt = 130;

/** Says at Ctrl-C that work can be continued. For work that may be cut off anywhere: nothing is waited for. */
export async function interruptible<T>(
  { note }: Pick<Call, "note">,
  work: () => Promise<T>,
  describeState: () => string = () => "",
): Promise<T> {
  const stop = () => {
    note(`Stopped. Run the same command again to continue.${describeState()}`);
    process.exit(exitCodeOfInterrupt);
  };
  process.once("SIGINT", stop);
  try {
    return await work();
  } finally {
    process.off("SIGINT", stop);
  }
}
