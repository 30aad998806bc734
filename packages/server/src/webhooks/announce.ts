import type { Database } from "../db/database.ts";

/** Says on every instance that there may be new messages. Carries nothing: whoever hears it looks. */
export const MESSAGES_CHANNEL = "webhook_messages";
const quietMs = 50;

/** The first of a burst is told at once and the rest of it together, since notifying costs a commit of its own. */
export function createAnnouncer(db: Database, onFailure: (error: unknown) => void): () => void {
  let isQuiet = false;
  let isAskedAgain = false;

  function announce(): void {
    if (isQuiet) {
      isAskedAgain = true;
      return;
    }
    isQuiet = true;
    isAskedAgain = false;
    db.notify(MESSAGES_CHANNEL, "").catch(onFailure);
    setTimeout(() => {
      isQuiet = false;
      if (isAskedAgain) announce();
    }, quietMs).unref();
  }
  return announce;
}
