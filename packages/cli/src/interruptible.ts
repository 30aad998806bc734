import type { Call } from "./command.ts";

/** The exit code that shells report after Ctrl-C. */
export const exitCodeOfInterrupt = 130;

/** On Ctrl-C, says that the work can be resumed. For work that can stop anywhere: waits for nothing. */
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
