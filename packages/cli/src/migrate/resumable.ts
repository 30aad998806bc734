import { OperatorError } from "../command.ts";
import { interruptible } from "../interruptible.ts";

export interface Interruption {
  /** The move as it is called. */
  command: string;
  isReadOnly: () => boolean;
  note: (text: string) => void;
}

const goOn = "Run the same command again to continue.";

/** What breaks off says that it can be taken up again, and in which state it leaves the service. */
export async function resumable<T>(
  { command, isReadOnly, note }: Interruption,
  work: () => Promise<T>,
): Promise<T> {
  const explainState = () =>
    isReadOnly()
      ? ` The service is read-only meanwhile; \`upstow ${command} --abort\` gives the move up.`
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

/** A target that is wrong from the beginning. */
export function unusable(what: "bucket" | "database", error: unknown, variables: string): OperatorError {
  const reason = (error as Error).message.replace(/\.$/, "");
  return new OperatorError(
    "SERVICE_UNAVAILABLE",
    `The ${what} cannot be used: ${reason}. Nothing was changed; check ${variables}.`,
  );
}

/** By their names: their classes are not loaded for it. */
const codesOfAway: Record<string, string> = {
  StorageUnavailable: "SERVICE_UNAVAILABLE",
  StorageFull: "INSUFFICIENT_STORAGE",
  DatabaseUnavailable: "SERVICE_UNAVAILABLE",
};
