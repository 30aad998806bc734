import { UpstowError } from "../errors.ts";
import type { FileRouter } from "../handler/file-router.ts";
import { createFetchPut, type Put } from "../transfer/put.ts";
import { createBackend } from "./backend.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { createMeter } from "./meter.ts";
import { watchOnline } from "./online.ts";
import { type Batch, cancelled, createOutcome, describe, type Entry, timing } from "./queue-entry.ts";
import { findIndexedDbStore, forgiving } from "./resume-store.ts";
import { createSession, type Session, type SessionTools } from "./session.ts";
import { createSlots } from "./slots.ts";
import type { Uploader, UploaderOptions, UploaderSnapshot, UploadTask, WaitOptions } from "./types.ts";
import { findXhr } from "./xhr.ts";
import { createXhrPut } from "./xhr-put.ts";

const multipartAboveBytes = 10 * 1024 * 1024;
const tickMs = 200;

type AddOptions = { input?: unknown };

/** Uploads from a browser (or any other client) through your backend's route handler. */
export function createUploader<Router extends FileRouter = FileRouter>(
  options: UploaderOptions,
): Uploader<Router> {
  const { endpoint, headers = {}, concurrency = 3, retries = 3, retryDelayMs = 1000 } = options;
  const policy = { retries, baseDelayMs: retryDelayMs };
  const fetch =
    options.fetch ?? ((...args: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...args));
  const store = forgiving(
    options.resumeStore === false ? undefined : (options.resumeStore ?? findIndexedDbStore()),
  );
  const online = watchOnline(() => emit());
  const getHeaders = typeof headers === "function" ? headers : () => headers;
  const backend = createBackend({ endpoint, headers: getHeaders, fetch, online, ...policy });
  const tools: SessionTools = {
    backend,
    put: createPut(),
    policy,
    concurrency,
    verify: options.verify === true,
  };

  const listeners = new Set<() => void>();
  let entries: Entry[] = [];
  let ticker: ReturnType<typeof setInterval> | undefined;
  let nextId = 1;
  let snapshot = takeSnapshot();

  /** Bodies share the line's slots, and wait while there is no line at all; that costs no attempt. */
  function createPut(): Put {
    const Xhr = findXhr();
    const put = Xhr === undefined ? createFetchPut(() => fetch) : createXhrPut(Xhr);
    const inSlot = createSlots(concurrency);
    return async (request) => {
      for (;;) {
        await online.untilOnline(request.signal);
        const offline = online.signal();
        const signal = AbortSignal.any([request.signal, offline]);
        try {
          return await inSlot(signal, () => put({ ...request, signal }));
        } catch (error) {
          if (request.signal.aborted || !offline.aborted) throw error;
          request.onProgress(0);
        }
      }
    };
  }

  function takeSnapshot(): UploaderSnapshot {
    const uploads = entries.map(describe);
    const counted = uploads.filter((state) => state.status !== "failed" && state.status !== "cancelled");
    const sum = (pick: (state: (typeof uploads)[number]) => number) =>
      counted.reduce((total, state) => total + pick(state), 0);
    const sentBytes = sum((state) => state.sentBytes);
    const totalBytes = sum((state) => state.totalBytes);
    const bytesPerSec = sum((state) => state.bytesPerSec);
    return {
      uploads,
      isOnline: online.isOnline(),
      sentBytes,
      totalBytes,
      ...timing(sentBytes, totalBytes, bytesPerSec),
    };
  }

  function emit(): void {
    snapshot = takeSnapshot();
    for (const listener of listeners) listener();
  }

  function tick(): void {
    const before = snapshot.uploads;
    if (entries.some((entry, i) => describe(entry) !== before[i])) emit();
  }

  /** Starts what waits, as far as there is room. */
  function pump(): void {
    const running = entries.filter((entry) => entry.run !== null).length;
    const waiting = entries.filter((entry) => entry.status === "queued" && entry.run === null);
    for (const entry of waiting.slice(0, Math.max(0, concurrency - running))) {
      entry.run = run(entry).finally(() => {
        entry.run = null;
        pump();
      });
    }
    const isBusy = entries.some((entry) => entry.run !== null);
    if (isBusy) ticker ??= setInterval(tick, tickMs);
    else {
      clearInterval(ticker);
      ticker = undefined;
    }
  }

  async function run(entry: Entry): Promise<void> {
    const stop = new AbortController();
    const { signal } = stop;
    const enter = (status: Entry["status"]) => {
      signal.throwIfAborted();
      entry.status = status;
      emit();
    };
    entry.stop = stop;
    try {
      enter("preparing");
      // Not to be stopped half-way: an upload that the backend has opened must be known, to be removed again.
      entry.session ??= await openSession(entry);
      enter("uploading");
      entry.meter.reset();
      await entry.session.send(signal);
      enter("completing");
      entry.uploaded = await entry.session.complete(signal);
      await forget(entry);
      enter("done");
      entry.outcome.resolve(entry.uploaded);
    } catch (error) {
      // Whoever stopped this run has said already what the upload is now.
      if (!signal.aborted) await fail(entry, error as Error);
    }
  }

  async function openSession(entry: Entry): Promise<Session> {
    const { file, route, meter } = entry;
    const ticket = (await entry.batch.getTickets())[entry.index] ?? "";
    if (file.size > multipartAboveBytes && entry.fingerprint === null) {
      const fingerprint = await fingerprintOf(file, `${endpoint} ${route}`);
      // The same file twice in one queue is meant to be stored twice.
      const isTaken = entries.some((other) => other.fingerprint === fingerprint && other.status !== "done");
      if (!isTaken) entry.fingerprint = fingerprint;
    }
    const { fingerprint } = entry;
    const saved = fingerprint === null ? undefined : await store.find(fingerprint);
    const opened = await backend.start(ticket, saved?.token);
    if (fingerprint !== null && opened.partSize !== undefined) {
      const { name, size } = file;
      await store.save({ fingerprint, route, name, size, token: opened.token, savedAt: Date.now() });
    }
    return createSession(tools, file, ticket, opened, meter.add);
  }

  async function fail(entry: Entry, error: Error): Promise<void> {
    entry.status = "failed";
    entry.error = error;
    emit();
    if (options.keepOnFailure !== true) await discard(entry, error.message);
    entry.outcome.reject(error);
  }

  async function discard(entry: Entry, failure?: string): Promise<void> {
    const { session } = entry;
    entry.session = null;
    // It failed for want of a backend, perhaps: then the service removes what was sent, later.
    if (session !== null) await backend.abort(session.token, failure).catch(() => {});
    await forget(entry);
  }

  async function forget(entry: Entry): Promise<void> {
    if (entry.fingerprint !== null) await store.remove(entry.fingerprint);
    entry.fingerprint = null;
  }

  function pauseEntry(entry: Entry): void {
    if (!["queued", "preparing", "uploading"].includes(entry.status)) return;
    entry.status = "paused";
    entry.stop?.abort(new UpstowError("The upload is paused.", { code: "CANCELLED" }));
  }

  async function cancelEntry(entry: Entry): Promise<void> {
    // What is being completed cannot be taken back any more.
    if (["completing", "done", "cancelled"].includes(entry.status)) return;
    entry.status = "cancelled";
    entry.error = cancelled();
    entry.stop?.abort(entry.error);
    emit();
    await entry.run;
    await discard(entry);
    entry.outcome.reject(entry.error);
  }

  function retryEntry(entry: Entry): void {
    if (entry.status !== "failed" && entry.status !== "cancelled") return;
    entry.status = "queued";
    entry.error = null;
    entry.outcome = createOutcome();
    if (entry.session !== null) return;
    entry.batch = createBatch(entry.route, entry.input, [entry.file]);
    entry.index = 0;
  }

  function createBatch(route: string, input: unknown, files: File[]): Batch {
    let tickets: Promise<string[]> | null = null;
    return {
      getTickets() {
        tickets ??= backend
          .begin({ route, input, files: files.map(toFileInfo) })
          .then((answer) => answer.tickets);
        return tickets;
      },
    };
  }

  const each = (act: (entry: Entry) => void) => (id?: string) => {
    for (const entry of entries) if (id === undefined || entry.id === id) act(entry);
    emit();
    pump();
  };
  const pause = each(pauseEntry);
  const resume = each((entry) => {
    if (entry.status === "paused") entry.status = "queued";
  });
  const retry = each(retryEntry);
  const cancel = async (id?: string) => {
    const chosen = entries.filter((entry) => id === undefined || entry.id === id);
    await Promise.all(chosen.map(cancelEntry));
  };

  function toTask(entry: Entry): UploadTask<unknown> {
    const { id } = entry;
    return {
      id,
      get done() {
        return entry.outcome.promise;
      },
      getState: () => describe(entry),
      pause: () => pause(id),
      resume: () => resume(id),
      cancel: () => cancelEntry(entry),
      retry: () => retry(id),
    };
  }

  function add(
    route: string,
    given: Iterable<File> | File,
    { input }: AddOptions = {},
  ): UploadTask<unknown>[] {
    const files = given instanceof Blob ? [given] : [...given];
    const batch = createBatch(route, input, files);
    const added = files.map((file, index): Entry => {
      return {
        id: String(nextId++),
        route,
        file,
        input,
        batch,
        index,
        status: "queued",
        error: null,
        uploaded: null,
        session: null,
        fingerprint: null,
        meter: createMeter(),
        stop: null,
        run: null,
        outcome: createOutcome(),
        state: null,
      };
    });
    entries = [...entries, ...added];
    emit();
    pump();
    return added.map(toTask);
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  async function upload(route: string, files: Iterable<File> | File, wait: AddOptions & WaitOptions = {}) {
    const { signal, onProgress } = wait;
    const tasks = add(route, files, wait);
    const stop = () => void Promise.all(tasks.map((task) => task.cancel()));
    const unsubscribe = subscribe(() => onProgress?.(tasks.map((task) => task.getState())));
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    const ends = tasks.map((task) => task.done);
    await Promise.allSettled(ends);
    signal?.removeEventListener("abort", stop);
    unsubscribe();
    return Promise.all(ends);
  }

  return {
    add,
    upload,
    pause,
    resume,
    cancel,
    retry,
    clear(id) {
      const isOver = ({ status }: Entry) =>
        status === "done" || status === "failed" || status === "cancelled";
      entries = entries.filter((entry) => !isOver(entry) || (id !== undefined && entry.id !== id));
      emit();
    },
    subscribe,
    getSnapshot: () => snapshot,
    listResumable: store.list,
    getRoutes: async () => (await backend.routes()).routes,
    destroy() {
      pause();
      online.close();
      listeners.clear();
    },
  } as Uploader<Router>;
}

function toFileInfo({ name, size, type }: File) {
  return { name, size, type: type || "application/octet-stream" };
}
