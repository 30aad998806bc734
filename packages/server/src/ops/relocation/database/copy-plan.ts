import { type TableName, tableNames } from "../../../db/table-names.ts";
import { storeNames } from "../switch-storage.ts";

export interface CopyPlan {
  /** In an order in which every row finds what it refers to. */
  tables: TableName[];
  leftOut: { table: TableName; reason: string }[];
  /** What becomes of a row on its way. */
  convert(table: TableName, row: Row): Row;
}

export type Row = Record<string, string | number | Uint8Array | null>;

const never: Partial<Record<TableName, string>> = {
  migration: "made by the schema itself",
  rate_window: "rate windows last a minute and begin anew",
  read_only: "concerns the old database only",
  relocation: "written by the move itself",
  relocated_table: "the journal of this copy",
};

const ofTheDisk: TableName[] = [
  "disk_store",
  "disk_object",
  "disk_part",
  "disk_small_blob",
  "relocated_object",
];
const namesStore: TableName[] = ["file", "variant", "storage_deletion"];

/** `isInBucket`: all bytes were copied to the bucket, which the new database is to be used with. */
export function planCopy(isInBucket: boolean): CopyPlan {
  const reasonFor = (table: TableName) =>
    isInBucket && ofTheDisk.includes(table) ? "the files are in the bucket" : never[table];
  return {
    tables: tableNames.filter((table) => reasonFor(table) === undefined),
    leftOut: tableNames.flatMap((table) => {
      const reason = reasonFor(table);
      return reason === undefined ? [] : [{ table, reason }];
    }),
    convert(table, row) {
      const isMoved = isInBucket && namesStore.includes(table) && row["store"] === storeNames.from;
      return isMoved ? { ...row, store: storeNames.to } : row;
    },
  };
}
