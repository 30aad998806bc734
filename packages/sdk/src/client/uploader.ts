import { UpstowError } from "../errors.ts";
import type { FileRouter } from "../handler/file-router.ts";
import { onAbort } from "../http/wait.ts";
import { createFetchPut } from "../transfer/put.ts";
import { createBackend } from "./backend.ts";
import { createBatch } from "./batch.ts";
import { createEntry, type Entry } from "./entry.ts";
import { isOfEndpoint } from "./fingerprint.ts";
import { importFromUrl } from "./import.ts";
import { createLine } from "./line.ts";
import { watchOnline } from "./online.ts";
import { createQueue } from "./queue.ts";
import { findIndexedDbStore, forgiving, listUnclaimed } from "./resume-store.ts";
import { describe, takeSnapshot } from "./snapshot.ts";
import {
  type ImportUrlOptions,
  type TogetherOption,
  UploadError,
  type Uploader,
  type UploaderOptions,
  type UploaderSnapshot,
  type UploadTask,
  type WaitOptions,
} from "./types.ts";
import { findXhr } from "./xhr.ts";
import { createXhrPut } from "./xhr-put.ts";

const tickMs = 200;

// Well below a handler's limit, however long the names are.
const filesInBatch = 500;

type Files = Iterable<File> | File;
type AddOptions = TogetherOption & { input?: unknown };

/** A listener that throws must not affect other listeners or the upload. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Uploads from a browser (or any other client) through your backend's route handler. */
export function createUploader<Router extends FileRouter = FileRouter>(
  options: UploaderOptions,
): Uploader<Router> {
  const { endpoint, headers = {}, concurrency = 3, resumeStore } = options;
  const policy = { retries: options.retries ?? 3, baseDelayMs: options.retryDelayMs ?? 1000 };
  const fetch =
    options.fetch ?? ((...args: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...args));
  const online = watchOnline(() => emit());
  const getHeaders = typeof headers === "function" ? headers : () => headers;
  const backend = createBackend({ endpoint, headers: getHeaders, fetch, online, ...policy });
  const Xhr = findXhr();
  const put = Xhr === undefined ? createFetchPut(() => fetch) : createXhrPut(Xhr);
  const store = forgiving(resumeStore === false ? undefined : (resumeStore ?? findIndexedDbStore()));
  const queue = createQueue({
    endpoint,
    backend,
    put: createLine(put, concurrency, online),
    policy,
    concurrency,
    verify: options.verify === true,
    toSent: options.stripMetadata ?? (async (file) => file),
    fetch,
    store,
    keepOnFailure: options.keepOnFailure === true,
    online,
    onChange: () => emit(),
  });

  const listeners = new Set<() => void>();
  let ticker: ReturnType<typeof setInterval> | undefined;
  let nextId = 1;
  /** Built on demand: in a queue of thousands, one per change would cost more than the uploads. */
  let snapshot: UploaderSnapshot | null = null;

  function getSnapshot(): UploaderSnapshot {
    snapshot ??= takeSnapshot(queue.entries(), online.isOnline());
    return snapshot;
  }

  function emit(): void {
    snapshot = null;
    for (const listener of listeners) tell(listener);
    watchProgress();
  }

  /** Progress changes constantly, so listeners are notified only a few times per second. */
  function watchProgress(): void {
    const hasMoved = (entry: Entry, i: number) => describe(entry) !== snapshot?.uploads[i];
    ticker ??= setInterval(() => {
      if (queue.entries().some(hasMoved)) emit();
      if (queue.isBusy()) return;
      clearInterval(ticker);
      ticker = undefined;
    }, tickMs);
  }

  const pick = (id: string | undefined) =>
    queue.entries().filter((entry) => id === undefined || entry.id === id);
  const apply = (entries: Entry[], act: (entry: Entry) => void) => {
    for (const entry of entries) act(entry);
    emit();
    queue.pump();
  };
  const each = (act: (entry: Entry) => void) => (id?: string) => apply(pick(id), act);
  const pause = each(queue.pause);
  const resume = each(queue.resume);
  const retry = each(queue.retry);

  const toTask = (entry: Entry): UploadTask<unknown> => ({
    id: entry.id,
    get done() {
      return entry.outcome.promise;
    },
    getState: () => describe(entry),
    pause: () => pause(entry.id),
    resume: () => resume(entry.id),
    cancel: () => queue.cancel(entry),
    retry: () => apply([entry], queue.retry),
  });

  function add(route: string, given: Files, { input, of }: AddOptions = {}): UploadTask<unknown>[] {
    const files = given instanceof Blob ? [given] : [...given];
    const added: Entry[] = [];
    for (let at = 0; at < files.length; at += filesInBatch) {
      const together = files.slice(at, at + filesInBatch);
      const entries: Entry[] = [];
      const isWanted = (index: number) =>
        entries[index]?.batch === batch && entries[index].status !== "cancelled";
      const batch = createBatch(backend, route, input, together, isWanted, of ?? files.length);
      for (const [index, file] of together.entries())
        entries.push(createEntry({ id: String(nextId++), route, file, input, batch, index }));
      added.push(...entries);
    }
    queue.add(added);
    emit();
    queue.pump();
    return added.map(toTask);
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  async function upload(route: string, files: Files, wait: AddOptions & WaitOptions = {}) {
    const { signal, onProgress } = wait;
    const tasks = add(route, files, wait);
    const stop = () => void Promise.all(tasks.map((task) => task.cancel()));
    const unsubscribe = subscribe(() => onProgress?.(tasks.map((task) => task.getState())));
    const leave = onAbort(signal, stop);
    const ends = await Promise.allSettled(tasks.map((task) => task.done));
    leave();
    unsubscribe();
    const stored = ends.flatMap((end) => (end.status === "fulfilled" ? end.value : []));
    const [failure, ...others] = ends.flatMap((end, i) =>
      end.status === "rejected"
        ? { file: (tasks[i] as UploadTask<unknown>).getState().file, error: end.reason }
        : [],
    );
    if (failure !== undefined) throw new UploadError(stored, [failure, ...others]);
    return stored;
  }

  return {
    add,
    upload,
    importFromUrl: (route: string, url: string, options: ImportUrlOptions & { input?: unknown } = {}) =>
      importFromUrl(backend, route, url, options),
    pause,
    resume,
    retry,
    async cancel(id) {
      await Promise.all(pick(id).map(queue.cancel));
    },
    clear(id) {
      queue.clear((entry) => id === undefined || entry.id === id);
      emit();
    },
    subscribe,
    getSnapshot,
    async listResumable() {
      // Checked before and after, because an upload that ends in between may still be listed.
      const underWay = queue.entries().filter(({ status }) => status !== "failed");
      const taken = new Set(underWay.map(({ fingerprint }) => fingerprint));
      const saved = await listUnclaimed(await store.list());
      return saved.filter(
        ({ fingerprint }) =>
          isOfEndpoint(fingerprint, endpoint) && !taken.has(fingerprint) && !queue.isTaken(fingerprint),
      );
    },
    async discardResumable({ fingerprint, token }) {
      await store.remove(fingerprint);
      // If the backend is unreachable, the service removes it later.
      await backend.abort(token, undefined).catch(() => {});
    },
    async getRoutes() {
      const { routes } = await backend.routes();
      if (typeof routes === "object" && routes !== null) return routes;
      throw new UpstowError(`The response from ${endpoint} is not from an Upstow route handler.`, {
        code: "UNEXPECTED_ANSWER",
      });
    },
    destroy() {
      pause();
      online.close();
      listeners.clear();
      for (const entry of queue.entries()) entry.release();
    },
  } as Uploader<Router>;
}
