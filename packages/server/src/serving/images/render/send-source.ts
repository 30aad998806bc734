import { type FileHandle, open } from "node:fs/promises";
import type { Duplex } from "node:stream";
import { writeFrameHead } from "./frame-channel.ts";
import type { SourceFile } from "./render-job.ts";

// The service reads a source on a worker's behalf: a process that meets hostile bytes gets to see no path.

/** A source that is open, and has the size it should have. */
export interface OpenSource {
  sizeBytes: number;
  /** In order, into memory of the caller's. Throws where the file turns out to be shorter. */
  read(target: Buffer, atByte: number): Promise<void>;
  close(): Promise<void>;
}

const chunkBytes = 1024 * 1024;

/** Null where the file is gone, is none or has another size: whoever keeps it knows what to say of that. */
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

/** Two of them, so that the disk is read while the worker takes what was read before. */
export type SendMemory = readonly [Buffer, Buffer];

export function createSendMemory(): SendMemory {
  return [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)];
}

/** Sends a frame whose bytes are the source, holding little of it at a time. After a failure the stream is of no use. */
export async function sendSource(
  stream: Duplex,
  header: unknown,
  source: OpenSource,
  memories: SendMemory,
): Promise<void> {
  const { sizeBytes } = source;
  writeFrameHead(stream, header, sizeBytes);
  let sent = Promise.resolve();
  for (let atByte = 0, turn = 0; atByte < sizeBytes; atByte += chunkBytes, turn++) {
    const chunk = memories[turn % 2 === 0 ? 0 : 1].subarray(0, sizeBytes - atByte);
    await source.read(chunk, atByte);
    await sent;
    sent = send(stream, chunk);
    // Awaited above or below; until then a worker that dies must not count as an error nobody handles.
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

function send(stream: Duplex, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error == null ? resolve() : reject(error)));
  });
}
