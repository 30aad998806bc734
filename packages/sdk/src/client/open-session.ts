import { UpstowError } from "../errors.ts";
import type { BeginAnswer } from "../handler/protocol.ts";
import type { Backend } from "./backend.ts";
import type { Batch, Entry } from "./entry.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { ResumeStore } from "./resume-store.ts";
import { createSession, type Session, type SessionTools } from "./session.ts";

const multipartAboveBytes = 10 * 1024 * 1024;

/** `of` is how many files were added together, where they are too many for one batch. */
export function createBatch(
  backend: Backend,
  route: string,
  input: unknown,
  files: File[],
  of = files.length,
): Batch {
  let answer: Promise<BeginAnswer> | null = null;
  const infos = files.map(({ name, size, type }) => ({
    name,
    size,
    type: type || "application/octet-stream",
  }));
  return {
    async getTicket(index) {
      answer ??= backend.begin({ route, input, files: infos, of });
      const { tickets, refusals = [] } = await answer;
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
}

/** Opens the upload of a file: one that an earlier page left unfinished, or a new one, which is remembered. */
export async function openSession(
  tools: SessionTools,
  store: ResumeStore,
  entry: Entry,
  isTaken: (fingerprint: string) => boolean,
): Promise<Session> {
  const { file, route, meter } = entry;
  const ticket = await entry.batch.getTicket(entry.index).catch((error) => {
    leaveBatch(tools.backend, entry);
    throw error;
  });
  if (file.size > multipartAboveBytes) {
    const fingerprint = await fingerprintOf(file, `${tools.endpoint} ${route}`);
    // The same file twice in one queue is meant to be stored twice.
    if (!isTaken(fingerprint)) entry.fingerprint = fingerprint;
  }
  const { fingerprint } = entry;
  const saved = fingerprint === null ? undefined : await store.find(fingerprint);
  const opened = await tools.backend.start(ticket, saved?.token);
  if (fingerprint !== null && opened.partSize !== undefined) {
    const { name, size } = file;
    await store.save({ fingerprint, route, name, size, token: opened.token, savedAt: Date.now() });
  }
  return createSession(tools, file, ticket, opened, meter.add);
}

export async function forget(store: ResumeStore, entry: Entry): Promise<void> {
  if (entry.fingerprint !== null) await store.remove(entry.fingerprint);
  entry.fingerprint = null;
}
