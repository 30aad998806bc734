import { setTimeout as sleep } from "node:timers/promises";
import type { Metadata, UploadSource } from "@upstow/sdk";
import { OperatorError } from "../command.ts";
import { clean } from "../format.ts";

/** A file as the place it comes from lists it. */
export interface SourceEntry {
  /** Unique in its source, and the same in every run. */
  id: string;
  name: string;
  sizeBytes: number;
  /** Another one says that the bytes changed since; empty where they never do. */
  version: string;
  type?: string | undefined;
  /** What the source knows about it besides. */
  metadata?: Metadata;
}

/** What a source lists and nobody could import. */
export interface LeftOutEntry {
  id: string;
  leftOut: string;
}

export interface ImportSource {
  /** Kept with every file that comes from here: what was imported before is recognised by it. */
  label: string;
  list(): AsyncIterable<SourceEntry | LeftOutEntry>;
  /** For sources whose lists have no types. */
  findType?(entry: SourceEntry): Promise<string | undefined>;
  read(entry: SourceEntry): UploadSource;
  close?(): void;
}

export const isLeftOut = (entry: SourceEntry | LeftOutEntry): entry is LeftOutEntry => "leftOut" in entry;

export const emptyFile = "the file is empty";

const mostRetries = 4;
const baseDelayMs = 500;

/** The source said no; asking again would not help. */
class Refused extends OperatorError {}

const delayOf = (attempt: number) => baseDelayMs * 2 ** attempt;

/** Asks a foreign service, and waits as it says where it is asked too often. */
export async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(url, init).catch((error: Error) => error);
    if (response instanceof Response && response.ok) return response;
    const mayPass = !(response instanceof Response) || response.status === 429 || response.status >= 500;
    if (!mayPass || attempt === mostRetries) throw await explainRefusal(url, response);
    const askedFor = response instanceof Response && Number(response.headers.get("retry-after")) * 1000;
    await sleep(askedFor || delayOf(attempt));
  }
}

async function explainRefusal(url: string, response: Response | Error): Promise<OperatorError> {
  const { host } = new URL(url);
  if (response instanceof Error) {
    const reason = (response.cause as Error | undefined)?.message ?? response.message;
    return new Refused("NETWORK_ERROR", `No response from ${host}: ${reason}.`);
  }
  const said = clean((await response.text()).slice(0, 200));
  return new Refused(
    response.status === 404 ? "NOT_FOUND" : "SOURCE_REFUSED",
    `${host} responded with ${response.status}${said === "" ? "" : `: ${said}`}`,
  );
}

/** Bytes from the given position on, and what tells that they are still those of the first request. */
export interface Opened {
  etag: string | undefined;
  chunks: AsyncIterable<Uint8Array>;
}

/** Small files are opened by the hundred; no source is asked for so many at once. */
const readsAtOnce = 6;
let reads = 0;
const waiting: (() => void)[] = [];

async function takeTurn(): Promise<() => void> {
  if (reads >= readsAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else reads++;
  return () => {
    const next = waiting.shift();
    if (next === undefined) reads--;
    else next();
  };
}

/** The bytes of an entry. Where the connection breaks, reading continues at the same byte. */
export async function* readOn(
  sizeBytes: number,
  open: (startByte: number) => Promise<Opened>,
): AsyncGenerator<Uint8Array> {
  const leave = await takeTurn();
  try {
    let [position, attempt] = [0, 0];
    let etag: string | undefined;
    while (position < sizeBytes) {
      try {
        const opened = await open(position);
        if (position > 0 && opened.etag !== etag)
          throw new Refused("CONFLICT", "It changed while it was read.");
        etag = opened.etag;
        for await (const chunk of opened.chunks) {
          position += chunk.byteLength;
          attempt = 0;
          yield chunk;
        }
        if (position < sizeBytes) throw new OperatorError("NETWORK_ERROR", "The source ended early.");
      } catch (error) {
        if (error instanceof Refused || attempt === mostRetries) throw error;
        await sleep(delayOf(attempt++));
      }
    }
  } finally {
    leave();
  }
}

/** Opens a URL for `readOn`. */
export async function openUrl(
  url: string,
  startByte: number,
  headers: Record<string, string> = {},
): Promise<Opened> {
  const range = startByte === 0 ? {} : { range: `bytes=${startByte}-` };
  const response = await ask(url, { headers: { ...headers, ...range } });
  if (response.body === null || (startByte > 0 && response.status !== 206)) {
    await response.body?.cancel();
    throw new Refused("SOURCE_REFUSED", `${new URL(url).host} cannot continue a download that broke.`);
  }
  return { etag: response.headers.get("etag") ?? undefined, chunks: response.body };
}
