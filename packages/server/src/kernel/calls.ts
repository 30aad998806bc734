/** External systems that the process calls. */
export type Callee = "database" | "storage" | "customer bucket" | "redis" | "webhook" | "renderer";

export interface Call {
  to: Callee;
  /** One of a few names, such as a verb: it becomes a label. */
  operation: string;
}

export interface RunningCall {
  /** Called once, with the error if it failed. */
  end(error?: unknown): void;
  /** What an HTTP request has to carry so that the other side can join the trace. */
  headers?: Record<string, string>;
}

/** Sees every call begin. */
export type CallWatcher = (call: Call) => RunningCall;

let watchers: readonly CallWatcher[] = [];

/** Watches all calls of this process. Returns what ends it. */
export function watchCalls(watcher: CallWatcher): () => void {
  watchers = [...watchers, watcher];
  return () => {
    watchers = watchers.filter((other) => other !== watcher);
  };
}

export function beginCall(to: Callee, operation: string): Required<RunningCall> {
  const call = { to, operation };
  const running = watchers.map((watch) => watch(call));
  return {
    get headers() {
      return Object.assign({}, ...running.map(({ headers }) => headers));
    },
    end(error) {
      for (const each of running) each.end(error);
    },
  };
}

export async function callTo<T>(
  to: Callee,
  operation: string,
  work: () => Promise<T>,
  /** Whether an error is an expected result, such as "not found". */
  isAnswer: (error: unknown) => boolean = () => false,
): Promise<T> {
  const call = beginCall(to, operation);
  try {
    const result = await work();
    call.end();
    return result;
  } catch (error) {
    call.end(isAnswer(error) ? undefined : error);
    throw error;
  }
}
