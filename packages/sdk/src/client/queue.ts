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

/** Runs entries, a few at a time, and changes what they are doing. */
export function createQueue(given: QueueTools) {
  const { backend, store, onChange } = given;
  const completions = createCompletions(backend, given.policy, () => entries.some(isComing));
  const tools = { ...given, completions };
  let entries: Entry[] = [];

  const isTaken = (fingerprint: string) =>
    entries.some((entry) => entry.fingerprint === fingerprint && entry.status !== "failed");

  /** Starts what waits, as far as there is room. */
  function pump(): void {
    const running = entries.filter((entry) => entry.run !== null && entry.status !== "completing").length;
    const waiting = entries.filter((entry) => entry.status === "queued" && entry.run === null);
    for (const entry of waiting.slice(0, Math.max(0, tools.concurrency - running))) {
      occupy(entry, () => run(entry));
    }
    completions.look();
  }

  /** One thing at a time happens to an entry: what comes second begins when the first has let go. */
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
    // It may have been stopped before its turn came.
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
      // Not to be stopped half-way: an upload that the backend has opened must be known, to be removed again.
      entry.session ??= await openSession(tools, store, entry, hold, isTaken);
      entry.release();
      if (entry.fingerprint !== null) entry.release = claim(entry.fingerprint);
      enter("uploading");
      entry.meter.reset();
      await entry.session.send(hold);
      enter("completing");
      // Its bytes are sent: there is room for those of another.
      pump();
      entry.uploaded = await entry.session.complete(hold);
      await forget(store, entry);
      enter("done");
      entry.outcome.resolve(entry.uploaded);
    } catch (error) {
      // Whoever stopped this run has said already what the upload is now.
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
    // What it had sent is no longer there.
    entry.state = null;
    // Its ticket opens the upload that ends here: another try needs another one.
    leaveBatch(backend, entry);
    // It failed for want of a backend, perhaps: then the service removes what was sent, later.
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
      // What is being completed cannot be taken back any more.
      if (["completing", "done", "cancelled"].includes(entry.status) && !isHeldBack(entry)) return;
      const error = cancelled();
      const { outcome } = entry;
      entry.error = error;
      stopRun(entry, "cancelled");
      onChange();
      // What was sent is removed when there is a network again; nobody should wait for that.
      const leave = onAbort(tools.online.signal(), () => outcome.reject(error));
      await occupy(entry, () => discard(entry));
      leave();
      outcome.reject(error);
    },
    retry(entry: Entry): void {
      if (entry.status !== "failed" && entry.status !== "cancelled") return;
      // Whoever holds its task may try again what was taken off the list.
      if (!entries.includes(entry)) entries = [...entries, entry];
      entry.status = "queued";
      entry.error = null;
      entry.outcome = createOutcome();
    },
    /** Takes what is over off the list. */
    clear(isChosen: (entry: Entry) => boolean): void {
      const isOver = ({ status }: Entry) => ["done", "failed", "cancelled"].includes(status);
      entries = entries.filter((entry) => !isOver(entry) || !isChosen(entry));
    },
  };
}

/** Waits for the rate limit to pass: nothing has been asked for that could not be taken back. */
const isHeldBack = ({ waitsUntilMs }: Entry) => waitsUntilMs !== null;

/** Will ask for its completion soon. */
const isComing = (entry: Entry) =>
  ["queued", "preparing", "uploading"].includes(entry.status) && !isHeldBack(entry) && isSmall(entry);

/** A pause, or a sleep of the machine, was so long that the service gave the upload up, or its permission ran out. */
function isGone({ session }: Entry, { code }: UpstowError): boolean {
  return code === "INVALID_TOKEN" || (code === "NOT_FOUND" && session?.isEnded() === true);
}

/** All bytes have arrived, and a reason that may pass keeps them from being completed: another try asks for that alone. */
function isOnlyIncomplete({ session }: Entry, error: Error): boolean {
  const { code } = error as UpstowError;
  return session?.isSent() === true && (code === "RATE_LIMITED" || mayPass(error as UpstowError));
}
