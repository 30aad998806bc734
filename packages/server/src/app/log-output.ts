import { writeSync } from "node:fs";

export interface LogOutput {
  write(line: string): void;
  /** Lines that could not be written. */
  dropped(): number;
  /** Writes what is left, as far as that is possible without waiting. */
  flush(): void;
}

/** Names levels, as most programs that read logs expect. */
export const logFormat = { formatters: { level: (level: string) => ({ level }) } };

const mostWaitingBytes = 256 * 1024;
const retryMs = 20;

/**
 * Writes lines to a descriptor that does not block. A log that cannot be written, because its disk is full or nobody
 * reads the pipe, must neither stop nor end the service: lines wait in memory for a while, and are then dropped.
 */
export function createLogOutput(fd: number): LogOutput {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let droppedLines = 0;
  /** Part of a line was written, and the rest dropped. */
  let isLineOpen = false;

  function write(line: string): void {
    const bytes = Buffer.from(isLineOpen ? `\n${line}` : line);
    if (waiting.length === 0) put(bytes);
    else keep(bytes);
  }

  function put(bytes: Buffer): void {
    let written = 0;
    try {
      while (written < bytes.length) {
        written += writeSync(fd, bytes, written);
        isLineOpen = false;
      }
    } catch (error) {
      const rest = bytes.subarray(written);
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") keep(rest);
      else drop(rest, written > 0);
    }
  }

  function keep(bytes: Buffer): void {
    if (waitingBytes + bytes.length > mostWaitingBytes) {
      drop(bytes, false);
      return;
    }
    waiting.push(bytes);
    waitingBytes += bytes.length;
    if (waiting.length === 1) setTimeout(flush, retryMs).unref();
  }

  function drop(bytes: Buffer, isCut: boolean): void {
    droppedLines += countLines(bytes);
    isLineOpen ||= isCut;
  }

  function flush(): void {
    const bytes = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    put(bytes);
  }

  return { write, dropped: () => droppedLines, flush };
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (byte === 10) count++;
  return count;
}
