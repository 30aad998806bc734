import { randomBytes } from "node:crypto";
import { after, before, beforeEach, type TestContext } from "node:test";
import { createUploader, type ResumeStore, type SavedUpload } from "../../src/client/index.ts";
import { createUpstow, type Upstow } from "../../src/index.ts";
import { hashOf } from "./hash-stored.ts";
import { startApplication, type TestApplication, type TestRouter } from "./start-application.ts";
import { MB } from "./start-service.ts";

export const bytes = randomBytes(15 * MB + 17);
export const partCount = 4;
export const large = (name = "large.bin") => new File([bytes], name, { lastModified: 5 });
export const small = (name = "small.txt", size = 1000) =>
  new File([bytes.subarray(0, size)], name, { type: "text/plain" });

export function createMemoryStore(): ResumeStore & { kept: Map<string, SavedUpload> } {
  const kept = new Map<string, SavedUpload>();
  return {
    kept,
    find: async (fingerprint) => kept.get(fingerprint),
    save: async (upload) => void kept.set(upload.fingerprint, upload),
    remove: async (fingerprint) => void kept.delete(fingerprint),
    list: async () => [...kept.values()],
  };
}

/** A page's network, which is there until it is taken away. */
export function fakeNetwork(t: TestContext) {
  const page = new EventTarget();
  const state = { onLine: true };
  const fakes = {
    navigator: state,
    addEventListener: page.addEventListener.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
  };
  const own = Object.keys(fakes).map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  );
  for (const [name, value] of Object.entries(fakes))
    Object.defineProperty(globalThis, name, { value, configurable: true });
  t.after(() => {
    for (const [name, descriptor] of own) {
      Reflect.deleteProperty(globalThis, name);
      if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor);
    }
  });
  return (isOnline: boolean) => {
    state.onLine = isOnline;
    page.dispatchEvent(new Event(isOnline ? "online" : "offline"));
  };
}

export const hashOfBytes = hashOf(bytes);

/** An application for the tests of one file, with a network that is sound when each of them begins. */
export function useApplication(options: Parameters<typeof startApplication>[0] = {}) {
  let application: TestApplication;
  let upstow: Upstow;
  const storage = () => application.service.storage;
  before(async () => {
    application = await startApplication(options);
    upstow = createUpstow({ apiKey: application.service.apiKey, baseUrl: application.service.app.url });
  });
  after(() => application.close());
  beforeEach(() => {
    storage().puts.length = 0;
    storage().calls.length = 0;
    storage().losesAnswer = () => false;
    application.site.actions.length = 0;
    storage().cutsPut = () => false;
    storage().allow(Number.POSITIVE_INFINITY);
  });
  return {
    storage,
    application: () => application,
    upstow: () => upstow,
    create: (options: object = {}) =>
      createUploader<TestRouter>({ endpoint: application.site.endpoint, retryDelayMs: 10, ...options }),
    async listOpen(): Promise<string[]> {
      const { files } = await upstow.files.list();
      return files.filter((file) => file.status === "UPLOADING").map((file) => file.name);
    },
  };
}
