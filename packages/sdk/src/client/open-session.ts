import { UpstowError } from "../errors.ts";
import type { BeginAnswer } from "../handler/protocol.ts";
import type { Backend } from "./backend.ts";
import type { Batch, Entry } from "./entry.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { type Hold, share } from "./hold.ts";
import type { ResumeStore } from "./resume-store.ts";
import { createSession, type Session, type SessionTools } from "./session.ts";
import type { createStarts } from "./starts.ts";

const multipartAboveBytes = 10 * 1024 * 1024;

/** `of` is how many files were added together, where they are too many for one batch. */
export function createBatch(
  backend: Backend,
  route: string,
  input: unknown,
  files: File[],
  of = files.length,
): Batch {
  let join: ReturnType<typeof share<BeginAnswer>> | null = null;
  let begun: BeginAnswer | null = null;
  const infos = files.map(({ name, size, type }) => ({
    name,
    size,
    type: type || "application/octet-stream",
  }));

  async function begin(hold: Hold): Promise<BeginAnswer> {
    try {
      begun = await backend.begin({ route, input, files: infos, of }, hold);
      return begun;
    } catch (error) {
      // All who needed it have left during a wait: who comes back asks again.
      if (hold.signal.aborted) join = null;
      throw error;
    }
  }

  return {
    findTicket: (index) => begun?.tickets[index] || undefined,
    async getTicket(index, hold) {
      join ??= share(begin);
      const { tickets, refusals = [] } = await join(hold);
      const refusal = refusals.find((item) => item.index === index);
      if (refusal !== undefined) throw new UpstowError(refusal.message, refusal);
      return tickets[index] ?? "";
    },
  };
}

/** Another try asks for a ticket of its own. */
export function leaveBatch(backend: Backend, entry: Entry): void {
  entry.batch = createBatch(backend, entry.route, entry.input, [entry.file]);
  entry.index = 0;
  entry.opening = null;
}

/** Small files are opened together. */
export const isSmall = ({ file }: Entry) => file.size <= multipartAboveBytes;

/** Opens the upload of a file: one that an earlier page left unfinished, or a new one, which is remembered. */
export async function openSession(
  tools: SessionTools & { starts: ReturnType<typeof createStarts> },
  store: ResumeStore,
  entry: Entry,
  hold: Hold,
  isTaken: (fingerprint: string) => boolean,
): Promise<Session> {
  const { file, route, meter } = entry;
  const ticket = await entry.batch.getTicket(entry.index, hold).catch((error) => {
    if (!hold.signal.aborted) leaveBatch(tools.backend, entry);
    throw error;
  });
  if (isSmall(entry)) {
    const opened = await tools.starts.open(entry, ticket, hold).catch((error) => {
      // One that is paused while it waits finds its upload when it goes on.
      if (!hold.signal.aborted) entry.opening = null;
      throw error;
    });
    entry.opening = null;
    return createSession(tools, file, ticket, opened, meter.add);
  }
  const fingerprint = await fingerprintOf(file, `${tools.endpoint} ${route}`);
  // The same file twice in one queue is meant to be stored twice.
  if (!isTaken(fingerprint)) entry.fingerprint = fingerprint;
  const saved = entry.fingerprint === null ? undefined : await store.find(entry.fingerprint);
  const opened = await tools.backend.start(ticket, saved?.token, hold);
  if (entry.fingerprint !== null && opened.partSize !== undefined) {
    const { name, size } = file;
    await store.save({ fingerprint, route, name, size, token: opened.token, savedAt: Date.now() });
  }
  return createSession(tools, file, ticket, opened, meter.add);
}

export async function forget(store: ResumeStore, entry: Entry): Promise<void> {
  if (entry.fingerprint !== null) await store.remove(entry.fingerprint);
  entry.fingerprint = null;
}
