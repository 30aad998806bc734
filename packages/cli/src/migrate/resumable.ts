import { OperatorError } from "../command.ts";
import { interruptible } from "../interruptible.ts";

export interface Interruption {
  /** The command that runs the move. */
  command: string;
  isReadOnly: () => boolean;
  note: (text: string) => void;
}

const goOn = "Run the same command again to continue.";

/** On failure, says that the move can be resumed and what state the service is in. */
export async function resumable<T>(
  { command, isReadOnly, note }: Interruption,
  work: () => Promise<T>,
): Promise<T> {
  const explainState = () =>
    isReadOnly()
      ? ` The service stays read-only until then; \`upstow ${command} --abort\` cancels the move.`
      : "";
  try {
    return await interruptible({ note }, work, explainState);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = codesOfAway[error.name];
    if (code === undefined && !isReadOnly()) throw error;
    const { suggestion, code: ownCode } = error as { suggestion?: string; code?: string };
    const reason = error.message.charAt(0).toUpperCase() + error.message.slice(1).replace(/\.$/, "");
    const advice = suggestion ?? (error.name === "StorageFull" ? `Make room. ${goOn}` : goOn);
    const known = error.name === "AppError" ? ownCode : undefined;
    throw new OperatorError(code ?? known ?? "INTERNAL_ERROR", `${reason}. ${advice}${explainState()}`);
  }
}

/** The target is unusable from the start. */
export function unusable(what: "bucket" | "database", error: unknown, variables: string): OperatorError {
  const reason = (error as Error).message.replace(/\.$/, "");
  return new OperatorError(
    "SERVICE_UNAVAILABLE",
    `The ${what} cannot be used: ${reason}. Nothing was changed; check ${variables}.`,
  );
}

/** By name, to avoid loading their classes. */
const codesOfAway: Record<string, string> = {
  StorageUnavailable: "SERVICE_UNAVAILABLE",
  StorageFull: "INSUFFICIENT_STORAGE",
  DatabaseUnavailable: "SERVICE_UNAVAILABLE",
};
