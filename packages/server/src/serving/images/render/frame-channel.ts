import type { Duplex } from "node:stream";

/** A small JSON header and raw bytes, sent as two lengths of 32 bits, the header, the bytes. */
export interface Frame {
  header: unknown;
  /** Valid until the next frame begins, where the reader reuses its memory. */
  bytes: Buffer;
}

export type GetMemory = (sizeBytes: number) => Buffer;

export interface FrameReader {
  /** Where the next bytes belong; never empty. */
  nextTarget(): Buffer;
  /** Says how many bytes were put there. */
  filled(countBytes: number): void;
}

const prefixBytes = 8;
/** Far beyond any source or image; a worker gone mad must not make the service allocate without end. */
const maxFrameBytes = 256 * 1024 * 1024;
const maxHeaderBytes = 64 * 1024;

export function writeFrame(stream: Duplex, header: unknown, bytes: Uint8Array): void {
  stream.cork();
  writeFrameHead(stream, header, bytes.length);
  if (bytes.length > 0) stream.write(bytes);
  stream.uncork();
}

/** For bytes that follow bit by bit, exactly as many as announced. */
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

/** What is not a frame destroys the stream with an error. */
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

/** Memory that is used again for the next frame saves its page faults; a rare giant is not kept. */
export function createReusedMemory(keptBytes: number): GetMemory {
  let kept: Buffer = Buffer.alloc(0);
  return (sizeBytes) => {
    if (sizeBytes > keptBytes) return Buffer.allocUnsafeSlow(sizeBytes);
    if (sizeBytes > kept.length) kept = Buffer.allocUnsafeSlow(sizeBytes);
    return kept.subarray(0, sizeBytes);
  };
}
