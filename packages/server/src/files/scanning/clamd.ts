import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { ClamdConfig } from "../../config/services.ts";

export type ScanAnswer =
  | { verdict: "clean" }
  | { verdict: "infected"; signature: string }
  /** The file exceeds the limits that it is configured with. */
  | { verdict: "unscanned" };

/** A client of ClamAV's daemon. Whatever is no verdict throws `ScannerFailed`. */
export interface Clamd {
  /** Each chunk is sent before the next one is requested. */
  scan(file: Scanned, signal: AbortSignal): Promise<ScanAnswer>;
  /** Throws if it does not respond. */
  ping(): Promise<void>;
  /** Such as "ClamAV 1.4.3/27694/Thu Jul 10 08:35:21 2025": its version, that of its signatures, and their date. */
  findVersion(): Promise<string>;
}

export interface Scanned {
  sizeBytes: number;
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>;
}

export class ScannerFailed extends Error {
  override readonly name = "ScannerFailed";
}

export interface ClamdPatience {
  connectMs: number;
  /** Without a byte in either direction. ClamAV may think for two minutes. */
  idleMs: number;
}

const usualPatience: ClamdPatience = { connectMs: 5_000, idleMs: 180_000 };
const shortAnswerMs = 5_000;
/** Every response is a single line. */
const answerMaxBytes = 4096;
const endOfStream = Buffer.alloc(4);

export function createClamd(
  { address }: Pick<ClamdConfig, "address">,
  { connectMs, idleMs }: ClamdPatience = usualPatience,
): Clamd {
  /** Sends a command and returns the response line. */
  async function ask(
    command: string,
    { answerMs, signal, send }: { answerMs: number; signal?: AbortSignal; send?: Send },
  ): Promise<string> {
    const socket = connect(address);
    const stop = () => socket.destroy(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      signal?.throwIfAborted();
      const answer = readAnswer(socket);
      // Awaited below, if sending does not fail before.
      answer.catch(() => {});
      socket.setTimeout(connectMs, () => socket.destroy(new Error("it did not respond in time")));
      await once(socket, "connect");
      socket.setTimeout(answerMs);
      try {
        await write(socket, Buffer.from(`z${command}\0`));
        await send?.(socket, answer);
      } catch (error) {
        if (error instanceof SourceFailed) throw error.cause;
        // It responds before it disconnects on unwanted data.
      }
      return await answer;
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
      socket.destroy();
    }
  }

  /**
   * It disconnects on files over its limit while they are being sent, and its response is lost with the connection. It
   * also rejects a chunk announced with such a length before any byte is sent.
   */
  async function refusesSize(sizeBytes: number, signal: AbortSignal): Promise<boolean> {
    const send: Send = (socket) => write(socket, lengthOf(sizeBytes));
    const answer = await ask("INSTREAM", { answerMs: shortAnswerMs, signal, send }).catch(() => "");
    return limitReached.test(answer);
  }

  return {
    async scan({ sizeBytes, chunks }, signal) {
      let isSent = false;
      const send: Send = async (socket, answer) => {
        isSent = await sendStream(socket, chunks, answer);
      };
      try {
        const answer = await ask("INSTREAM", { answerMs: idleMs, signal, send });
        const found = toVerdict(answer);
        // A file cannot be clean before it has been seen as a whole.
        if (found.verdict === "clean" && !isSent) throw unexpected(answer);
        return found;
      } catch (error) {
        if (error instanceof ScannerFailed && (await refusesSize(sizeBytes, signal)))
          return { verdict: "unscanned" };
        throw error;
      }
    },
    async ping() {
      const answer = await ask("PING", { answerMs: shortAnswerMs });
      if (answer !== "PONG") throw unexpected(answer);
    },
    findVersion: () => ask("VERSION", { answerMs: shortAnswerMs }),
  };
}

type Send = (socket: Socket, answer: Promise<string>) => Promise<unknown>;

/** The bytes could not be read, which says nothing about the scanner. */
class SourceFailed extends Error {}

/** False if it responded before the end. */
async function sendStream(
  socket: Socket,
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  answer: Promise<string>,
): Promise<boolean> {
  let isAnswered = false;
  const noteAnswer = () => {
    isAnswered = true;
  };
  answer.then(noteAnswer, noteAnswer);
  const source = fromSource(chunks);
  for await (const chunk of source) {
    // It has decided, or rejects the rest.
    if (isAnswered) return false;
    socket.write(lengthOf(chunk.length));
    await write(socket, chunk);
  }
  if (isAnswered) return false;
  await write(socket, endOfStream);
  return true;
}

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes);
  return length;
}

async function* fromSource(chunks: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    // An empty chunk would end the stream.
    for await (const chunk of chunks) if (chunk.length > 0) yield chunk;
  } catch (error) {
    throw new SourceFailed("the file could not be read", { cause: error });
  }
}

function write(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** Up to a zero byte, or to the end. */
function readAnswer(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = Buffer.alloc(0);
    const failed = (reason: string) => reject(new ScannerFailed(`the virus scanner failed: ${reason}`));
    socket.on("data", (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      const end = answer.indexOf(0);
      if (end !== -1) resolve(answer.toString("latin1", 0, end));
      else if (answer.length > answerMaxBytes) failed("its response does not end");
    });
    socket.on("error", ({ message }) => failed(message));
    socket.on("close", () => failed("it disconnected without a response"));
  });
}

/** Raised with AlertExceedsMax: a part of the file was not scanned. */
const limitExceeded = /^Heuristics\.Limits\.Exceeded/;

const limitReached = /size limit exceeded/i;

function toVerdict(answer: string): ScanAnswer {
  if (answer === "stream: OK") return { verdict: "clean" };
  const [, signature] = /^stream: (.+) FOUND$/.exec(answer) ?? [];
  if (signature !== undefined)
    return limitExceeded.test(signature) ? { verdict: "unscanned" } : { verdict: "infected", signature };
  if (limitReached.test(answer)) return { verdict: "unscanned" };
  throw unexpected(answer);
}

const unexpected = (answer: string) =>
  new ScannerFailed(`the virus scanner responded ${JSON.stringify(answer.slice(0, 200))}`);
