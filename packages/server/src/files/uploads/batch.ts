import type { Deps } from "../../deps.ts";
import { errorBody, toAppError } from "../../http/error-handler.ts";
import { AppError } from "../../kernel/errors.ts";

export interface BatchOutcome {
  /** In the order of the inputs: what the work returned, or its error. */
  items: ({ index: number } & object)[];
  /** 200 where all succeeded, 207 where some did, else that of the first error. */
  status: number;
  /** The first error where nothing succeeded. */
  failure: AppError | null;
}

/** Runs every item by itself, a few at a time. */
export async function runBatch<Input>(
  { log }: Pick<Deps, "log">,
  inputs: Input[],
  atOnce: number,
  work: (input: Input) => Promise<object>,
): Promise<BatchOutcome> {
  const results: (object | AppError)[] = [];
  let next = 0;

  async function takeTurns(): Promise<void> {
    while (next < inputs.length) {
      const index = next++;
      results[index] = await work(inputs[index] as Input).catch(explain);
    }
  }

  function explain(error: unknown): AppError {
    const known = toAppError(error);
    if (known.status >= 500) log.error({ err: error }, "an item of a batch failed");
    return known;
  }

  await Promise.all(Array.from({ length: Math.min(atOnce, inputs.length) }, takeTurns));
  const items = results.map((result, index) => ({
    index,
    ...(result instanceof AppError ? errorBody(result) : result),
  }));
  const errors = results.filter((result) => result instanceof AppError);
  const [first] = errors;
  if (first === undefined) return { items, status: 200, failure: null };
  const isPartial = errors.length < results.length;
  return { items, status: isPartial ? 207 : first.status, failure: isPartial ? null : first };
}
