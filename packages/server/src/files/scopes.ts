import type { FileRow } from "../db/schema.ts";

/** A file of any project. */
export type InScope = Pick<FileRow, "id" | "project_id" | "environment">;

/** Counters of several projects in one transaction could block each other. */
export function groupByScope<File extends InScope>(files: File[]): File[][] {
  return [...Map.groupBy(files, (file) => `${file.project_id} ${file.environment}`).values()];
}

export function scopeOf([first]: InScope[]) {
  if (first === undefined) throw new Error("there is no file");
  return { projectId: first.project_id, environment: first.environment };
}
