import type { UpstowError } from "../errors.ts";
import { mayPass } from "../http/call.ts";
import { onAbort } from "../http/wait.ts";
import { cancelled } from "./batch.ts";
import { createCompletions } from "./completions.ts";
import { createOutcome, type Entry } from "./entry.ts";
import type { Online } from "./online.ts";
import { forget, isSmall, leaveBatch, openSession } from "./open-session.ts";
import { claim, type ResumeStore } from "./resume-store.ts";
import type { SessionTools } from "./session.ts";

export interface QueueTools extends Omit<SessionTools, "completions"> {
  store: ResumeStore;
  keepOnFailure: boolean;
  online: Online;
  onChange(): void;
}

/** Runs entries, a few at a time, and moves them between states. */
export function createQueue(given: QueueTools) {
  const { backend, store, onChange } = given;
  const completions = createCompletions(backend, given.policy, () => entries.some(isComing));
  const tools = { ...given, completions };
  let entries: Entry[] = [];

  const isTaken = (fingerprint: string) =>
    entries.some((entry) => entry.fingerprint === fingerprint && entry.status !== "failed");

  /** Starts queued entries while there is room. */
  function pump(): void {
    const running = entries.filter((entry) => entry.run !== null && entry.status !== "completing").length;
    const waiting = entries.filter((entry) => entry.status === "queued" && entry.run === null);
    for (const entry of waiting.slice(0, Math.max(0, tools.concurrency - running))) {
      occupy(entry, () => run(entry));
    }
    completions.look();
  }

  /** Only one operation runs per entry; the next one starts when the previous one has finished. */
  function occupy(entry: Entry, work: () => Promise<void>): Promise<void> {
    const previous = entry.run;
    const current = (async () => {
      await previous;
      await work();
    })().finally(() => {
      if (entry.run !== current) return;
      entry.run = null;
      pump();
    });
    entry.run = current;
    return current;
  }

  async function run(entry: Entry, isSecond = false): Promise<void> {
    // It may have been stopped while queued.
    if (entry.status !== "queued") return;
    const stop = new AbortController();
    const { signal } = stop;
    const onWait = (untilMs: number | null) => {
      if (signal.aborted || entry.waitsUntilMs === untilMs) return;
      entry.waitsUntilMs = untilMs;
      completions.look();
      onChange();
    };
    const hold = { signal, onWait };
    const enter = (status: Entry["status"]) => {
      signal.throwIfAborted();
      entry.status = status;
      onChange();
    };
    entry.stop = stop;
    try {
      enter("preparing");
      // Must not be interrupted: an upload the backend has opened must be known, so that it can be removed.
      entry.session ??= await openSession(tools, store, entry, hold, isTaken);
      entry.release();
      if (entry.fingerprint !== null) entry.release = claim(entry.fingerprint);
      enter("uploading");
      entry.meter.reset();
      await entry.session.send(hold);
      enter("completing");
      // Its bytes are sent, so another file can start.
      pump();
      entry.uploaded = await entry.session.complete(hold);
      await forget(store, entry);
      enter("done");
      entry.outcome.resolve(entry.uploaded);
    } catch (error) {
      // Whatever stopped this run has already set the new state.
      if (signal.aborted) return;
      if (isSecond || !isGone(entry, error as UpstowError)) return fail(entry, error as Error);
      entry.status = "queued";
      onChange();
      await discard(entry, (error as Error).message);
      await run(entry, true);
    }
  }

  function stopRun(entry: Entry, status: Entry["status"]): void {
    entry.status = status;
    entry.waitsUntilMs = null;
    entry.stop?.abort();
  }

  async function fail(entry: Entry, error: Error): Promise<void> {
    const { outcome } = entry;
    entry.status = "failed";
    entry.error = error;
    entry.release();
    onChange();
    if (!tools.keepOnFailure && !isOnlyIncomplete(entry, error)) await discard(entry, error.message);
    outcome.reject(error);
  }

  async function discard(entry: Entry, failure?: string): Promise<void> {
    const { session } = entry;
    entry.session = null;
    // The bytes it sent are gone.
    entry.state = null;
    // Its ticket belongs to the upload that ends here, so another try needs a new one.
    leaveBatch(backend, entry);
    // The backend may be unreachable; then the service removes the sent bytes later.
    if (session !== null) await backend.abort(session.token, failure).catch(() => {});
    await forget(store, entry);
  }

  return {
    entries: () => entries,
    isTaken,
    isBusy: () => entries.some((entry) => entry.run !== null),
    pump,
    add(added: Entry[]): void {
      entries = [...entries, ...added];
    },
    pause(entry: Entry): void {
      if (["queued", "preparing", "uploading"].includes(entry.status) || isHeldBack(entry))
        stopRun(entry, "paused");
    },
    resume(entry: Entry): void {
      if (entry.status === "paused") entry.status = "queued";
    },
    async cancel(entry: Entry): Promise<void> {
      // A completion in progress cannot be undone.
      if (["completing", "done", "cancelled"].includes(entry.status) && !isHeldBack(entry)) return;
      const error = cancelled();
      const { outcome } = entry;
      entry.error = error;
      stopRun(entry, "cancelled");
      onChange();
      // The sent bytes are removed once online again; don't wait for that.
      const leave = onAbort(tools.online.signal(), () => outcome.reject(error));
      await occupy(entry, () => discard(entry));
      leave();
      outcome.reject(error);
    },
    retry(entry: Entry): void {
      if (entry.status !== "failed" && entry.status !== "cancelled") return;
      // Callers that hold its task may retry an upload that was removed from the list.
      if (!entries.includes(entry)) entries = [...entries, entry];
      entry.status = "queued";
      entry.error = null;
      entry.outcome = createOutcome();
    },
    /** Removes finished entries from the list. */
    clear(isChosen: (entry: Entry) => boolean): void {
      const isOver = ({ status }: Entry) => ["done", "failed", "cancelled"].includes(status);
      entries = entries.filter((entry) => !isOver(entry) || !isChosen(entry));
    },
  };
}

/** Waiting for the rate limit: nothing irreversible has been requested. */
const isHeldBack = ({ waitsUntilMs }: Entry) => waitsUntilMs !== null;

/** About to request its completion. */
const isComing = (entry: Entry) =>
  ["queued", "preparing", "uploading"].includes(entry.status) && !isHeldBack(entry) && isSmall(entry);

/** After a long pause or sleep, the service has discarded the upload, or its permit has expired. */
function isGone({ session }: Entry, { code }: UpstowError): boolean {
  return code === "INVALID_TOKEN" || (code === "NOT_FOUND" && session?.isEnded() === true);
}

/** All bytes have arrived and only completing them failed temporarily, so a retry only completes. */
function isOnlyIncomplete({ session }: Entry, error: Error): boolean {
  const { code } = error as UpstowError;
  return session?.isSent() === true && (code === "RATE_LIMITED" || mayPass(error as UpstowError));
}
