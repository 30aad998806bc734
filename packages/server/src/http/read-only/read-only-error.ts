import { DatabaseReadOnly } from "../../db/database.ts";
import { AppError } from "../../kernel/errors.ts";

const retryAfterSec = 30;

/** What everyone is told who wants to change something while the installation is moved. */
export class ReadOnlyError extends AppError {
  constructor() {
    super("SERVICE_UNAVAILABLE", "The service is being moved and takes no changes for the moment.", {
      suggestion: "Nothing was changed. Try again in a few minutes; files can be read meanwhile.",
      headers: { "retry-after": String(retryAfterSec) },
    });
  }
}

/** For what a reading request writes down in passing: it has to wait, the reader has not. */
export async function unlessReadOnly(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof DatabaseReadOnly)) throw error;
  }
}
