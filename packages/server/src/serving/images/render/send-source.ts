import { type FileHandle, open } from "node:fs/promises";
import type { Duplex, Writable } from "node:stream";
import { writeFrameHead } from "./frame-channel.ts";
import type { SourceFile } from "./render-job.ts";

// The service reads a source on a worker's behalf, so that a process with hostile bytes never sees a path.

/** An open source with the expected size. */
export interface OpenSource {
  sizeBytes: number;
  /** In order, into the caller's memory. Throws if the file turns out to be shorter. */
  read(target: Buffer, atByte: number): Promise<void>;
  close(): Promise<void>;
}

const chunkBytes = 1024 * 1024;

/** Null if it is missing, not a file or has another size: the store knows how to report that. */
export async function openSourceFile({ path, sizeBytes }: SourceFile): Promise<OpenSource | null> {
  const file = await open(path, "r").catch(() => null);
  if (file === null) return null;
  const found = await file.stat().catch(() => null);
  if (found === null || !found.isFile() || found.size !== sizeBytes) {
    await file.close();
    return null;
  }
  return { sizeBytes, read: (target, atByte) => readWhole(file, target, atByte), close: () => file.close() };
}

async function readWhole(file: FileHandle, target: Buffer, atByte: number): Promise<void> {
  let doneBytes = 0;
  while (doneBytes < target.length) {
    const { bytesRead } = await file.read(target, doneBytes, target.length - doneBytes, atByte + doneBytes);
    if (bytesRead === 0) throw new Error("the source is shorter than it was");
    doneBytes += bytesRead;
  }
}

/** Two buffers, so that the disk is read while the worker receives the previous one. */
export type SendMemory = readonly [Buffer, Buffer];

export function createSendMemory(): SendMemory {
  return [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)];
}

/** Sends a frame with the source's bytes, keeping little in memory. After a failure the stream is unusable. */
export async function sendSource(
  stream: Duplex,
  header: unknown,
  source: OpenSource,
  memories: SendMemory,
): Promise<void> {
  writeFrameHead(stream, header, source.sizeBytes);
  await sendPieces(stream, source, memories);
}

/** The source's bytes alone. */
export async function sendPieces(
  stream: Writable,
  source: OpenSource,
  memories: SendMemory = createSendMemory(),
): Promise<void> {
  const { sizeBytes } = source;
  let sent = Promise.resolve();
  for (let atByte = 0, turn = 0; atByte < sizeBytes; atByte += chunkBytes, turn++) {
    const chunk = memories[turn % 2 === 0 ? 0 : 1].subarray(0, sizeBytes - atByte);
    await source.read(chunk, atByte);
    await sent;
    sent = send(stream, chunk);
    // Awaited above or below; until then a dying worker must not cause an unhandled rejection.
    sent.catch(() => {});
  }
  await sent;
}

export function sendBytes(stream: Duplex, header: unknown, bytes: Uint8Array): Promise<void> {
  stream.cork();
  writeFrameHead(stream, header, bytes.length);
  const sent = send(stream, bytes);
  stream.uncork();
  return sent;
}

function send(stream: Writable, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error == null ? resolve() : reject(error)));
  });
}
