import { setTimeout as sleep } from "node:timers/promises";
import type { Metadata, UploadSource } from "@upstow/sdk";
import { OperatorError } from "../command.ts";
import { clean } from "../format.ts";

/** A file as listed by its source. */
export interface SourceEntry {
  /** Unique in its source and stable across runs. */
  id: string;
  name: string;
  sizeBytes: number;
  /** Changes when the bytes change; empty if they never do. */
  version: string;
  type?: string | undefined;
  /** Whatever else the source knows about it. */
  metadata?: Metadata;
}

/** Listed by the source but not importable. */
export interface LeftOutEntry {
  id: string;
  leftOut: string;
}

export interface ImportSource {
  /** Stored with every file from this source, to recognise files that were imported before. */
  label: string;
  list(): AsyncIterable<SourceEntry | LeftOutEntry>;
  /** For sources that do not list types. */
  findType?(entry: SourceEntry): Promise<string | undefined>;
  read(entry: SourceEntry): UploadSource;
  close?(): void;
}

export const isLeftOut = (entry: SourceEntry | LeftOutEntry): entry is LeftOutEntry => "leftOut" in entry;

export const emptyFile = "the file is empty";

const mostRetries = 4;
const baseDelayMs = 500;

/** The source rejected the request; retrying would not help. */
class Refused extends OperatorError {}

const delayOf = (attempt: number) => baseDelayMs * 2 ** attempt;

/** Calls an external service and waits as told when it is rate limited. */
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

/** Bytes from a position, and a tag that shows they still belong to the version of the first request. */
export interface Opened {
  etag: string | undefined;
  chunks: AsyncIterable<Uint8Array>;
}

/** Small files are opened by the hundred; don't send a source that many requests at once. */
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

/** The bytes of an entry. If the connection breaks, reading resumes at the same byte. */
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
          throw new Refused("CONFLICT", "The file changed while it was being read.");
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
    throw new Refused("SOURCE_REFUSED", `${new URL(url).host} cannot resume an interrupted download.`);
  }
  return { etag: response.headers.get("etag") ?? undefined, chunks: response.body };
}
