import type { Duplex } from "node:stream";
import { readFacts } from "./facts/image-facts.ts";
import type { RenderedImage, RenderProblem, RenderReply } from "./render-job.ts";

/** A small JSON header and raw bytes, sent as two lengths of 32 bits, the header, the bytes. */
export interface Frame {
  header: unknown;
  /** Valid until the next frame begins if the reader reuses its memory. */
  bytes: Buffer;
}

export type GetMemory = (sizeBytes: number) => Buffer;

export interface FrameReader {
  /** Buffer for the next bytes; never empty. */
  nextTarget(): Buffer;
  /** Reports how many bytes were written to it. */
  filled(countBytes: number): void;
}

const prefixBytes = 8;
/** Far beyond any source or image; a misbehaving worker must not make the service allocate without limit. */
const maxFrameBytes = 256 * 1024 * 1024;
const maxHeaderBytes = 64 * 1024;

export function writeFrame(stream: Duplex, header: unknown, bytes: Uint8Array): void {
  stream.cork();
  writeFrameHead(stream, header, bytes.length);
  if (bytes.length > 0) stream.write(bytes);
  stream.uncork();
}

/** For bytes that follow in pieces, exactly as many as declared. */
export function writeFrameHead(stream: Duplex, header: unknown, sizeBytes: number): void {
  const text = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32LE(text.length, 0);
  prefix.writeUInt32LE(sizeBytes, 4);
  stream.write(Buffer.concat([prefix, text]));
}

export function createFrameReader(onFrame: (frame: Frame) => void, getMemory: GetMemory): FrameReader {
  const prefix = Buffer.alloc(prefixBytes);
  let target: Buffer = prefix;
  let filledBytes = 0;

  function finishTarget(): void {
    const full = target;
    filledBytes = 0;
    if (full === prefix) {
      const frameBytes = prefix.readUInt32LE(0) + prefix.readUInt32LE(4);
      if (frameBytes > maxFrameBytes || prefix.readUInt32LE(0) > maxHeaderBytes)
        throw new Error(`A frame of ${frameBytes} bytes is too large.`);
      target = getMemory(frameBytes);
      return;
    }
    target = prefix;
    const headerBytes = prefix.readUInt32LE(0);
    const header: unknown = JSON.parse(full.toString("utf8", 0, headerBytes));
    onFrame({ header, bytes: full.subarray(headerBytes) });
  }

  return {
    nextTarget: () => target.subarray(filledBytes),
    filled(countBytes) {
      filledBytes += countBytes;
      if (filledBytes === target.length) finishTarget();
    },
  };
}

/** Anything but a frame destroys the stream with an error. */
export function readFrames(stream: Duplex, onFrame: (frame: Frame) => void): void {
  const reader = createFrameReader(onFrame, Buffer.allocUnsafeSlow);

  function consume(chunk: Buffer): void {
    let readBytes = 0;
    while (readBytes < chunk.length) {
      const copiedBytes = chunk.copy(reader.nextTarget(), 0, readBytes);
      readBytes += copiedBytes;
      reader.filled(copiedBytes);
    }
  }

  stream.on("data", (chunk: Buffer) => {
    try {
      consume(chunk);
    } catch (error) {
      stream.destroy(error as Error);
    }
  });
}

/** Reusing memory for the next frame saves page faults; unusually large buffers are not kept. */
export function createReusedMemory(keptBytes: number): GetMemory {
  let kept: Buffer = Buffer.alloc(0);
  return (sizeBytes) => {
    if (sizeBytes > keptBytes) return Buffer.allocUnsafeSlow(sizeBytes);
    if (sizeBytes > kept.length) kept = Buffer.allocUnsafeSlow(sizeBytes);
    return kept.subarray(0, sizeBytes);
  };
}

/** Not stdin and stdout: a native library that prints would garble the frames. */
export const workerChannelFd = 3;

/** A worker's messages. It receives `WorkerOrder`s, one at a time, each with its source; `done` comes with the image. */
export type WorkerMessage = { kind: "ready" } | { kind: "done"; reply: RenderReply };

const formats: Record<RenderedImage["format"], true> = { avif: true, webp: true, jpeg: true, png: true };
const problems: Record<RenderProblem, true> = {
  unsupported: true,
  unprocessable: true,
  "too-large": true,
  "too-many-bytes": true,
  "result-too-large": true,
};

/** Null for anything else: otherwise a compromised worker could have its bytes served as an executable type. */
export function readWorkerMessage(header: unknown): WorkerMessage | null {
  const { kind, reply } = asRecord(header);
  if (kind === "ready") return { kind };
  if (kind !== "done") return null;
  const { ok, image, facts, problem } = asRecord(reply);
  if (ok === false) return isKey(problems, problem) ? { kind, reply: { ok, problem } } : null;
  if (ok === true && facts !== undefined) {
    const known = readFacts(asRecord(facts));
    return known === null ? null : { kind, reply: { ok, facts: known } };
  }
  const { format, width, height } = asRecord(image);
  if (ok !== true || !isKey(formats, format) || !isSide(width) || !isSide(height)) return null;
  return { kind, reply: { ok, image: { format, width, height } } };
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isKey<K extends string>(known: Record<K, true>, value: unknown): value is K {
  return typeof value === "string" && Object.hasOwn(known, value);
}

function isSide(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
