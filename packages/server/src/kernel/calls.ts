/** What the process calls while it works. */
export type Callee = "database" | "storage" | "customer bucket" | "redis" | "webhook" | "renderer";

export interface Call {
  to: Callee;
  /** One of a few names, such as a verb: it becomes a label. */
  operation: string;
}

/** Called when the call ends; with the error if it failed. */
export type EndCall = (error?: unknown) => void;
/** Sees every call begin. */
export type CallWatcher = (call: Call) => EndCall;

const watchers = new Set<CallWatcher>();

/** Watches all calls of this process. Returns what ends it. */
export function watchCalls(watcher: CallWatcher): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

export function beginCall(to: Callee, operation: string): EndCall {
  const call = { to, operation };
  const ends = Array.from(watchers, (watch) => watch(call));
  return (error) => {
    for (const end of ends) end(error);
  };
}

export async function callTo<T>(
  to: Callee,
  operation: string,
  work: () => Promise<T>,
  /** Whether an error is the answer that was asked for, such as "there is none". */
  isAnswer: (error: unknown) => boolean = () => false,
): Promise<T> {
  const end = beginCall(to, operation);
  try {
    const result = await work();
    end();
    return result;
  } catch (error) {
    end(isAnswer(error) ? undefined : error);
    throw error;
  }
}
