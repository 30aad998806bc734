/** A `FileSystemFileHandle`: reopens the file in a later page, once the user agrees. */
export interface FileHandle {
  getFile(): Promise<File>;
  requestPermission?(options: { mode: "read" }): Promise<string>;
}

/** An upload that a page left unfinished. */
export interface SavedUpload {
  /** Derived from the file, the endpoint and the route. */
  fingerprint: string;
  route: string;
  name: string;
  size: number;
  lastModified?: number;
  /** Bytes that have arrived. */
  sentBytes?: number;
  /** Present if the added file had one as its property `handle`. */
  handle?: FileHandle | undefined;
  /** Issued by the backend, and readable only by it. */
  token: string;
  /** Epoch milliseconds. */
  savedAt: number;
}

/** Where unfinished uploads are remembered. */
export interface ResumeStore {
  find(fingerprint: string): Promise<SavedUpload | undefined>;
  save(upload: SavedUpload): Promise<void>;
  remove(fingerprint: string): Promise<void>;
  list(): Promise<SavedUpload[]>;
}

interface Request<Result> {
  result: Result;
  error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}

interface ObjectStore {
  get(key: string): Request<SavedUpload | undefined>;
  put(value: SavedUpload): Request<unknown>;
  delete(key: string): Request<unknown>;
  getAll(): Request<SavedUpload[]>;
}

interface Database {
  createObjectStore(name: string, options: { keyPath: string }): unknown;
  transaction(name: string, mode: string): { objectStore(name: string): ObjectStore };
}

type OpenRequest = Request<Database> & { onupgradeneeded: (() => void) | null };

// The service discards an upload seven days after its last part.
const keepMs = 7 * 24 * 60 * 60 * 1000;
const storeName = "uploads";

/** Undefined if the runtime has no IndexedDB. */
export function findIndexedDbStore(): ResumeStore | undefined {
  const { indexedDB } = globalThis as { indexedDB?: { open(name: string, version: number): OpenRequest } };
  if (indexedDB === undefined) return undefined;
  let opened: Promise<Database> | null = null;

  function open(): Promise<Database> {
    opened ??= new Promise((resolve, reject) => {
      const request = indexedDB?.open("upstow", 1) as OpenRequest;
      request.onupgradeneeded = () => request.result.createObjectStore(storeName, { keyPath: "fingerprint" });
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    return opened;
  }

  async function run<Result>(ask: (store: ObjectStore) => Request<Result>): Promise<Result> {
    const store = (await open()).transaction(storeName, "readwrite").objectStore(storeName);
    return new Promise((resolve, reject) => {
      const request = ask(store);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }

  return {
    find: (fingerprint) => run((store) => store.get(fingerprint)),
    save: async (upload) => void (await run((store) => store.put(upload))),
    remove: async (fingerprint) => void (await run((store) => store.delete(fingerprint))),
    list: () => run((store) => store.getAll()),
  };
}

/** Best effort: it fails in private windows and on full disks, and uploads continue regardless. */
export function forgiving(store: ResumeStore | undefined): ResumeStore {
  const attempt = async <Result>(work: () => Promise<Result> | undefined, otherwise: Result) =>
    (await Promise.resolve()
      .then(work)
      .catch(() => undefined)) ?? otherwise;
  const isFresh = (upload: SavedUpload) => Date.now() - upload.savedAt < keepMs;
  return {
    async find(fingerprint) {
      const found = await attempt<SavedUpload | undefined>(() => store?.find(fingerprint), undefined);
      return found !== undefined && isFresh(found) ? found : undefined;
    },
    save: (upload) => attempt(() => store?.save(upload), undefined),
    remove: (fingerprint) => attempt(() => store?.remove(fingerprint), undefined),
    list: async () => (await attempt(() => store?.list(), [])).filter(isFresh),
  };
}

interface Locks {
  request(name: string, options: { ifAvailable: true }, work: () => Promise<void>): Promise<void>;
  query(): Promise<{ held?: { name?: string }[] }>;
}

/** Undefined if the page is not served over HTTPS. */
const findLocks = () => (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks;

const lockPrefix = "upstow ";

/** Marks an upload as active in this tab, until the returned function is called. */
export function claim(fingerprint: string): () => void {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  findLocks()
    ?.request(lockPrefix + fingerprint, { ifAvailable: true }, () => held)
    .catch(() => {});
  return release;
}

/** Those of these uploads that are not active in any tab. */
export async function listUnclaimed(saved: SavedUpload[]): Promise<SavedUpload[]> {
  const state = await findLocks()
    ?.query()
    .catch(() => undefined);
  const claimed = new Set(state?.held?.map(({ name }) => name));
  return saved.filter(({ fingerprint }) => !claimed.has(lockPrefix + fingerprint));
}
