import type { Queryable } from "../../db/database.ts";
import type { FileTable } from "../../db/schema.ts";

export interface CompletedUpload {
  file: FileTable;
  webhookUrl: string | null;
  fileUrl: string;
}

/** Part of the transaction that confirms the file: an event that is not written here never happened. */
export async function enqueueUploadCompleted(_tx: Queryable, _now: number, _upload: CompletedUpload): Promise<void> {}
