import { type ReadAnswer, UpstowError } from "@upstow/sdk/client";

export interface PrivateUrlState {
  readonly status: "loading" | "ready" | "failed";
  /** Null unless `ready`. */
  readonly url: string | null;
  /** Set when `failed`: the file is missing, the user may not read it, or your backend does not respond. */
  readonly error: UpstowError | null;
}

export interface ReadSettings {
  headers: () => Record<string, string> | Promise<Record<string, string>>;
  fetch: typeof globalThis.fetch;
  /** False if this reader has no use for a new URL, such as after its image has loaded. */
  renews: boolean;
}

interface Reader {
  onChange: () => void;
  getSettings: () => ReadSettings;
}

interface Entry {
  getState(): PrivateUrlState;
  add(reader: Reader): void;
  remove(reader: Reader): void;
  /** Requests a new URL if one is due and someone needs it. */
  check(): void;
  /** Requests a new URL unless this one has been replaced already. */
  replace(url: string | null): void;
}

export const loading: PrivateUrlState = { status: "loading", url: null, error: null };

const longestMarginMs = 15_000;
const longestPauseMs = 60_000;
/** A blip of the network should not show as a failure. */
const quietFailures = 2;

/** URLs of private files, by the read handler's URL: components that show the same file share one. */
export function createPrivateUrls() {
  const entries = new Map<string, Entry>();
  return {
    getState: (address: string) => entries.get(address)?.getState() ?? loading,
    check: (address: string) => entries.get(address)?.check(),
    replace: (address: string, url: string | null) => entries.get(address)?.replace(url),
    subscribe(address: string, reader: Reader): () => void {
      const entry = entries.get(address) ?? createEntry(address, () => entries.delete(address));
      entries.set(address, entry);
      entry.add(reader);
      return () => entry.remove(reader);
    },
  };
}

function createEntry(address: string, onUnused: () => void): Entry {
  let state = loading;
  const readers = new Set<Reader>();
  let asking: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let release: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  /** When to request the next URL, and when the current one expires. */
  let dueMs = 0;
  let endsMs = Number.POSITIVE_INFINITY;

  function change(next: PrivateUrlState): void {
    state = next;
    for (const { onChange } of readers) onChange();
  }

  function plan(atMs: number): void {
    dueMs = atMs;
    if (atMs < Number.POSITIVE_INFINITY) timer = setTimeout(check, atMs - Date.now());
  }

  async function ask(): Promise<void> {
    const [reader] = readers;
    if (asking !== null || reader === undefined) return;
    const own = new AbortController();
    asking = own;
    clearTimeout(timer);
    const askedMs = Date.now();
    const answer = await fetchUrl(address, reader.getSettings(), own.signal).catch(toError);
    if (own.signal.aborted) return;
    asking = null;
    if (answer instanceof UpstowError) return fail(answer);
    failures = 0;
    endsMs = askedMs + answer.lifeMs;
    plan(endsMs - Math.min(longestMarginMs, answer.lifeMs / 4));
    change({ status: "ready", url: answer.url, error: null });
  }

  function fail(error: UpstowError): void {
    failures++;
    const isFinal = !mayPass(error);
    const pauseMs = Math.max(
      Math.min(longestPauseMs, 1_000 * 2 ** (failures - 1)),
      (error.retryAfter ?? 0) * 1_000,
    );
    plan(isFinal ? Number.POSITIVE_INFINITY : Date.now() + pauseMs);
    // The old URL may still work, and what has loaded with it stays in any case.
    const isSilent = state.url !== null || failures <= quietFailures;
    if (isFinal || !isSilent) change({ status: "failed", url: null, error });
  }

  function check(): void {
    const isWanted = state.url === null || [...readers].some(({ getSettings }) => getSettings().renews);
    if (isWanted && Date.now() >= dueMs && !document.hidden) void ask();
  }

  function startOver(): void {
    if (asking !== null) return;
    change(loading);
    void ask();
  }

  return {
    getState: () => state,
    check,
    replace(url) {
      if (url === state.url) startOver();
    },
    add(reader) {
      clearTimeout(release);
      if (readers.size === 0) document.addEventListener("visibilitychange", check);
      readers.add(reader);
      if (state.url !== null && Date.now() >= endsMs) startOver();
      else if (state.status === "loading" && failures === 0) void ask();
    },
    remove(reader) {
      readers.delete(reader);
      if (readers.size > 0) return;
      document.removeEventListener("visibilitychange", check);
      // In development React mounts, unmounts and remounts; an immediate remount gets the same URL.
      release = setTimeout(() => {
        asking?.abort();
        clearTimeout(timer);
        onUnused();
      });
    },
  };
}

async function fetchUrl(address: string, { headers, fetch }: ReadSettings, signal: AbortSignal) {
  const response = await fetch(address, {
    headers: { ...(await headers()), accept: "application/json" },
    signal,
  });
  const isJson = /^application\/json\b/i.test(response.headers.get("content-type") ?? "");
  const answer: unknown = isJson ? await response.json() : null;
  if (!response.ok) throw refusal(response, answer);
  if (!isReadAnswer(answer))
    throw new UpstowError(`${address} does not respond like a read handler.`, {
      code: "UNEXPECTED_ANSWER",
      status: response.status,
      suggestion: "Mount createReadHandler of @upstow/sdk there.",
    });
  return { url: new URL(answer.url, new URL(address, document.baseURI)).href, lifeMs: readLife(answer) };
}

function isReadAnswer(answer: unknown): answer is Pick<ReadAnswer, "url"> & Partial<ReadAnswer> {
  return typeof (answer as Partial<ReadAnswer> | null)?.url === "string";
}

/** Prefers seconds, because the browser's clock may be wrong. */
function readLife({ expiresIn, expiresAt }: Partial<ReadAnswer>): number {
  const lifeMs = typeof expiresIn === "number" ? expiresIn * 1_000 : Date.parse(expiresAt ?? "") - Date.now();
  return lifeMs > 0 ? lifeMs : Number.POSITIVE_INFINITY;
}

function refusal({ status, headers }: Response, answer: unknown): UpstowError {
  const { error } = (answer ?? {}) as { error?: { code?: string; message?: string } };
  return new UpstowError(error?.message ?? `The read handler returned ${status}.`, {
    code: error?.code ?? "UNEXPECTED_ANSWER",
    status,
    retryAfter: Number(headers.get("retry-after")) || undefined,
  });
}

function toError(error: unknown): UpstowError {
  if (error instanceof UpstowError) return error;
  return new UpstowError("Your backend could not be reached.", { code: "NETWORK_ERROR", cause: error });
}

/** Don't retry for files that are missing or forbidden: that would never end. */
function mayPass({ code, status }: UpstowError): boolean {
  return code === "NETWORK_ERROR" || status === 429 || status >= 500;
}
