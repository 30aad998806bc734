import { mayPass } from "../http/call.ts";
import type { Backend } from "./backend.ts";
import { createBatch, type Permit, RefusedAlone } from "./batch.ts";
import type { Entry } from "./entry.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { Hold } from "./hold.ts";
import type { FileHandle, ResumeStore } from "./resume-store.ts";
import { createSession, type Session, type SessionTools } from "./session.ts";

const multipartAboveBytes = 10 * 1024 * 1024;

export const isSmall = ({ file }: Entry) => file.size <= multipartAboveBytes;

/** A retry requests a new permit. */
export function leaveBatch(backend: Backend, entry: Entry): void {
  entry.batch = createBatch(backend, entry.route, entry.input, [entry.file], () => true);
  entry.index = 0;
}

/** Opens a file's upload: resumes one that an earlier page left unfinished, or starts and remembers a new one. */
export async function openSession(
  tools: SessionTools,
  store: ResumeStore,
  entry: Entry,
  hold: Hold,
  isTaken: (fingerprint: string) => boolean,
): Promise<Session> {
  const { file, route, meter } = entry;
  if (isSmall(entry)) return openSmall(tools, entry, hold);
  const permit = await getPermit(tools, entry, hold);
  const fingerprint = await fingerprintOf(file, tools.endpoint, route);
  // The same file added twice to one queue is stored twice.
  if (!isTaken(fingerprint)) entry.fingerprint = fingerprint;
  const saved = entry.fingerprint === null ? undefined : await store.find(entry.fingerprint);
  const opened = await permit.open(saved?.token, hold);
  const remember = async (sentBytes: number) => {
    if (entry.fingerprint === null || opened.partSize === undefined) return;
    const { name, size, lastModified, handle } = file as File & { handle?: FileHandle };
    const { token } = opened;
    const kept = { fingerprint, route, name, size, lastModified, handle, sentBytes, token };
    await store.save({ ...kept, savedAt: Date.now() });
  };
  const session = createSession(tools, file, permit, opened, meter.add, remember);
  await remember(session.sentBytes());
  return session;
}

async function openSmall(tools: SessionTools, entry: Entry, hold: Hold): Promise<Session> {
  const { file, meter, batch } = entry;
  const openOnce = async () => {
    const permit = await getPermit(tools, entry, hold);
    return createSession(tools, file, permit, await permit.open(undefined, hold), meter.add);
  };
  try {
    return await openOnce();
  } catch (error) {
    // One file of a group failed temporarily, so it tries once more by itself.
    if (!(error instanceof RefusedAlone) || !mayPass(error) || entry.batch !== batch) throw error;
    leaveBatch(tools.backend, entry);
    return openOnce();
  }
}

async function getPermit({ backend }: SessionTools, entry: Entry, hold: Hold): Promise<Permit> {
  try {
    return await entry.batch.getPermit(entry.index, hold);
  } catch (error) {
    if (!hold.signal.aborted) leaveBatch(backend, entry);
    throw error;
  }
}

export async function forget(store: ResumeStore, entry: Entry): Promise<void> {
  const { fingerprint } = entry;
  // Forget it first, so that a part arriving now is not remembered.
  entry.fingerprint = null;
  entry.release();
  if (fingerprint !== null) await store.remove(fingerprint);
}
