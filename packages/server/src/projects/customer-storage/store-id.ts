import { createId } from "../../kernel/ids.ts";

const prefix = "cs_";

export function createStoreId(now: number): string {
  return prefix + createId(now);
}

/** Whether a store's name, as files carry it, is that of a bucket that a customer brought. */
export function isCustomerStore(name: string): boolean {
  return name.startsWith(prefix);
}
