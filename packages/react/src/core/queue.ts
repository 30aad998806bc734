import { type SavedUpload, type Uploader, type UploadTask, UpstowError } from "@upstow/sdk/client";
import { announce } from "./announce.ts";
import { createEntry, createPreview, describe, type Entry, setPreview } from "./entry.ts";
import type { Labels } from "./labels.ts";
import { findExcess, findFault } from "./rules.ts";
import { isUnderWay, summarize } from "./summarize.ts";
import type { Rules, UnfinishedUpload, UploadItem, UploadList, UploadOptions } from "./types.ts";

export interface QueueSettings {
  options: UploadOptions;
  rules: Rules;
  labels: Labels;
  locale: string | undefined;
}

export interface UploadActions {
  pause(id?: string): void;
  resume(id?: string): void;
  cancel(id?: string): void;
  retry(id?: string): void;
  /** Removes a file from the list, stopping it first if necessary. */
  remove(id: string): void;
}

/** The files of one component. */
export interface Queue extends UploadActions {
  /** Dropped files that cannot be opened are listed as rejected. */
  add(files: Iterable<File>, unreadable?: readonly string[]): void;
  /** Starts staged files. */
  start(id?: string): void;
  /** Removes files that are done, rejected, failed or cancelled from the list. */
  clear(): void;
  /**
   * Resumes an unfinished upload with this file, which has to be the same. Without one, the browser reopens it; returns
   * false if it cannot, and the user has to select the file again.
   */
  continueUpload(id: string, file?: File): Promise<boolean>;
  /** Discards an unfinished upload. */
  discard(id: string): void;
  /** Moves a file before the one currently at this position. */
  move(id: string, toIndex: number): void;
  subscribe(listener: () => void): () => void;
  getSnapshot(): UploadList;
}

export const emptyList: UploadList = {
  items: [],
  unfinished: [],
  ...summarize([]),
  isOnline: true,
  announcement: "",
};

/** Keeps files in the order they were selected, whatever state the provider's uploader is in. */
export function createQueue(getUploader: () => Uploader, getSettings: () => QueueSettings): Queue {
  const listeners = new Set<() => void>();
  let entries: Entry[] = [];
  let saved: SavedUpload[] = [];
  /** Whether there were any: changes to the list may affect the rest. */
  let hasUnfinished = false;
  let unfinished: UnfinishedUpload[] = [];
  let snapshot = emptyList;
  /** Something was uploaded since all were last done. */
  let hasNews = false;
  let attached: Uploader | null = null;
  let detach = () => {};

  function attach(): void {
    const uploader = getUploader();
    if (attached === uploader) return;
    detach();
    attached = uploader;
    const unsubscribe = uploader.subscribe(refresh);
    detach = () => {
      unsubscribe();
      attached = null;
    };
  }

  function refresh(): void {
    const before = new Map(snapshot.items.map((item) => [item.id, item]));
    const items = entries.map(describe);
    const isOnline = attached?.getSnapshot().isOnline ?? true;
    const isSame =
      items.length === snapshot.items.length && items.every((item, i) => item === snapshot.items[i]);
    if (isSame && isOnline === snapshot.isOnline && unfinished === snapshot.unfinished) return;
    const changed = items.filter((item) => before.get(item.id)?.status !== item.status);
    const totals = summarize(items);
    hasNews ||= changed.some(({ status }) => status === "done");
    const isAllDone = hasNews && totals.status === "done";
    if (isAllDone) hasNews = false;
    const { labels, locale } = getSettings();
    const announcement = announce(labels, items, changed, isAllDone, locale) ?? snapshot.announcement;
    snapshot = { items, unfinished, ...totals, isOnline, announcement };
    for (const listener of [...listeners]) listener();
    tell(changed, isAllDone ? items : null);
    if (hasUnfinished && (changed.length > 0 || items.length !== before.size)) void lookForUnfinished();
    // Uploads continue after their component unmounts, and so do its callbacks.
    if (listeners.size === 0 && !items.some(isUnderWay)) detach();
  }

  async function lookForUnfinished(): Promise<void> {
    const { route } = getSettings().options;
    if (route === "") return;
    const found = await getUploader().listResumable();
    setUnfinished(found.filter((upload) => upload.route === route));
    hasUnfinished ||= saved.length > 0;
    refresh();
  }

  /** A file that is already on the list is not offered again. */
  function setUnfinished(found: SavedUpload[]): void {
    const isListed = (upload: SavedUpload) =>
      entries.some(({ file, rejection }) => rejection === null && isSameFile(upload, file));
    saved = found.filter((upload) => !isListed(upload));
    const next = saved.map(({ fingerprint, name, size, sentBytes = 0 }) => ({
      id: fingerprint,
      name,
      sentBytes,
      totalBytes: size,
      progress: sentBytes / size,
    }));
    if (JSON.stringify(next) !== JSON.stringify(unfinished)) unfinished = next;
  }

  function tell(changed: UploadItem[], allDone: UploadItem[] | null): void {
    const { options } = getSettings();
    for (const item of changed) {
      if (item.uploaded !== null) call(options.onUploaded, { file: item.uploaded, item });
      if (item.error !== null && item.status !== "cancelled")
        call(options.onFailed, { error: item.error, item });
    }
    if (allDone !== null) call(options.onAllDone, allDone);
  }

  function add(readable: Iterable<File>, unreadable: readonly string[] = []): void {
    const { options, rules, labels, locale } = getSettings();
    const files = [...readable];
    // An empty clipboard or folder must not replace the one existing file.
    if (options.isDisabled || files.length + unreadable.length === 0) return;
    attach();
    const { maxFileCount } = rules;
    if (maxFileCount === 1 && files.length > 0) removeAll(entries);
    const kept = snapshot.items.filter(isKept).map(({ file }) => file);
    const given = [...files, ...unreadable.map((name) => new File([], name))];
    const added = given.map((file, i): Entry => {
      const custom = i < files.length ? (options.validate?.(file) ?? null) : labels.unreadable(file.name);
      const fault =
        custom === null
          ? findFault(file, rules, labels, locale)
          : { code: "VALIDATION_ERROR", message: custom };
      const refusal = fault ?? findExcess(file, kept, rules, labels);
      if (refusal === null) kept.push(file);
      return createEntry(file, refusal && new UpstowError(refusal.message, { code: refusal.code }));
    });
    entries = [...entries, ...added];
    setUnfinished(saved);
    if (options.autoStart !== false) send(added);
    showPreviews();
    call(
      options.onAdded,
      added.flatMap(({ item }) => item ?? []),
    );
  }

  /** Lists a rejected file with the reason. */
  function refuse(file: File, message: string): void {
    attach();
    entries = [...entries, createEntry(file, new UpstowError(message, { code: "VALIDATION_ERROR" }))];
    refresh();
  }

  function send(waiting: Entry[]): void {
    const { route, input } = getSettings().options;
    const ready = waiting.filter(({ task, rejection }) => task === null && rejection === null);
    if (ready.length === 0) return;
    const tasks = getUploader().add(
      route,
      ready.map(({ file }) => file),
      { input },
    );
    for (const [i, entry] of ready.entries()) entry.task = tasks[i] ?? null;
  }

  const pick = (id: string | undefined) => entries.filter((entry) => id === undefined || entry.id === id);
  const each = (act: (task: UploadTask<unknown>) => unknown) => (id?: string) => {
    attach();
    for (const { task } of pick(id)) if (task !== null) act(task);
    refresh();
  };

  /** All together, so that no intermediate state is visible. */
  function removeAll(leaving: Entry[]): void {
    if (leaving.length === 0) return;
    entries = entries.filter((entry) => !leaving.includes(entry));
    for (const entry of leaving) {
      setPreview(entry, null);
      const { task } = entry;
      if (task !== null) void task.cancel().then(() => getUploader().clear(task.id));
    }
    refresh();
  }

  /** Object URLs keep files in memory, so they exist only while someone is subscribed. */
  function hidePreviews(): void {
    for (const entry of entries) setPreview(entry, null);
  }

  function showPreviews(): void {
    for (const entry of listeners.size === 0 ? [] : entries)
      if (entry.previewUrl === null) setPreview(entry, createPreview(entry));
    refresh();
  }

  return {
    add,
    start(id) {
      attach();
      send(pick(id));
      refresh();
    },
    pause: each((task) => task.pause()),
    resume: each((task) => task.resume()),
    cancel: each((task) => task.cancel()),
    retry: each((task) => task.retry()),
    remove: (id) => removeAll(pick(id)),
    clear() {
      const over = ["done", "rejected", "failed", "cancelled"];
      removeAll(entries.filter((entry) => over.includes(describe(entry).status)));
    },
    async continueUpload(id, given) {
      const upload = saved.find(({ fingerprint }) => fingerprint === id);
      const file = given ?? (await reopen(upload));
      if (upload === undefined || file === null) return upload === undefined;
      if (isSameFile(upload, file)) add([file]);
      else refuse(file, getSettings().labels.otherFile(upload.name));
      return true;
    },
    discard(id) {
      const [upload] = saved.filter(({ fingerprint }) => fingerprint === id);
      if (upload === undefined) return;
      setUnfinished(saved.filter((other) => other !== upload));
      refresh();
      void getUploader().discardResumable(upload);
    },
    move(id, toIndex) {
      const [entry] = pick(id);
      if (entry === undefined) return;
      const others = entries.filter((other) => other !== entry);
      entries = others.toSpliced(Math.max(0, toIndex), 0, entry);
      refresh();
    },
    subscribe(listener) {
      attach();
      // Done first, because a list without listeners releases the uploader when it changes.
      listeners.add(listener);
      if (listeners.size === 1) {
        showPreviews();
        void lookForUnfinished();
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        hidePreviews();
        if (!snapshot.items.some(isUnderWay)) detach();
      };
    },
    getSnapshot: () => snapshot,
  };
}

/** Null if the browser cannot reopen it or the user does not agree. */
async function reopen(upload: SavedUpload | undefined): Promise<File | null> {
  try {
    const { handle } = upload ?? {};
    const answer = await handle?.requestPermission?.({ mode: "read" });
    return answer === "denied" ? null : ((await handle?.getFile()) ?? null);
  } catch {
    return null;
  }
}

const isSameFile = (upload: SavedUpload, { name, size, lastModified }: File) =>
  upload.name === name &&
  upload.size === size &&
  (upload.lastModified === undefined || upload.lastModified === lastModified);

const isKept = ({ status }: UploadItem) => !["rejected", "failed", "cancelled"].includes(status);

/** Errors in callbacks are reported separately; thrown here, they would look like a failed upload. */
function call<Given>(callback: ((given: Given) => void) | undefined, given: Given): void {
  try {
    callback?.(given);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
