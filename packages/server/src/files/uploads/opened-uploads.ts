import type { FileRow } from "../../db/schema.ts";
import type { Actor } from "../../kernel/actor.ts";
import { createShortMemory } from "../../kernel/short-memory.ts";

const mostRemembered = 5_000;

/**
 * Most uploads are completed within seconds, by the process that opened them: what it wrote then it need not read. The
 * guard of the completion notices whatever has changed since.
 */
export interface OpenedUploads {
  remember(file: FileRow): FileRow;
  /** Once only: whoever finds it out of date reads the row. */
  take(id: string, actor: Actor): FileRow | null;
}

export function createOpenedUploads(): OpenedUploads {
  const opened = createShortMemory<FileRow>(mostRemembered);
  return {
    remember(file) {
      opened.remember(file.id, file);
      return file;
    },
    take(id, { projectId, environment }) {
      const file = opened.find(id);
      if (file === undefined || file.project_id !== projectId || file.environment !== environment)
        return null;
      opened.take(id);
      return file;
    },
  };
}
