import type { FileTable } from "../../db/schema.ts";
import { isCustomerStore } from "../customer-storage/store-id.ts";

/** What a file takes of the storage quota: nothing in a customer's own bucket. */
export function countedBytes(file: Pick<FileTable, "store">, sizeBytes: number): number {
  return isCustomerStore(file.store) ? 0 : sizeBytes;
}
