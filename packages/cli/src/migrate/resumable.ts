import { OperatorError } from "../command.ts";

export interface Interruption {
  /** The move as it is called. */
  command: string;
  isReadOnly: () => boolean;
}

/** What breaks off says that it can be taken up again, and in which state it leaves the service. */
export async function resumable<T>(
  { command, isReadOnly }: Interruption,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isAway = ["StorageUnavailable", "StorageFull", "DatabaseUnavailable"].includes(error.name);
    if (!isAway && !isReadOnly()) throw error;
    const { suggestion } = error as { suggestion?: string };
    const reason = error.message.charAt(0).toUpperCase() + error.message.slice(1).replace(/\.$/, "");
    const advice = suggestion ?? "Run the command again: it goes on where it stopped.";
    const state = isReadOnly()
      ? ` The service is read-only meanwhile; \`upstow ${command} --abort\` gives the move up.`
      : "";
    const code = isAway ? "SERVICE_UNAVAILABLE" : ((error as { code?: string }).code ?? "INTERNAL_ERROR");
    throw new OperatorError(code, `${reason}. ${advice}${state}`);
  }
}
