import type { Queryable } from "./database.ts";

/**
 * One change of a row instead of many: what callers bring that share a transaction and give the same name before
 * `apply` is called, which is in a moment, is added up, and all get the outcome of the one call.
 */
export function gather<Sum>(
  add: (sum: Sum, more: Sum) => void,
  apply: (tx: Queryable, sum: Sum) => Promise<void>,
): (tx: Queryable, name: string, sum: Sum) => Promise<void> {
  const gathering = new WeakMap<Queryable, Map<string, { sum: Sum; applied: Promise<void> }>>();

  return (tx, name, sum) => {
    let ofTransaction = gathering.get(tx);
    if (ofTransaction === undefined) {
      ofTransaction = new Map();
      gathering.set(tx, ofTransaction);
    }
    const joined = ofTransaction.get(name);
    if (joined !== undefined) {
      add(joined.sum, sum);
      return joined.applied;
    }
    const names = ofTransaction;
    const applied = Promise.resolve().then(() => {
      names.delete(name);
      return apply(tx, sum);
    });
    names.set(name, { sum, applied });
    return applied;
  };
}
