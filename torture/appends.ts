import { hash, randomBytes, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { createWithBytes } from "./creations.ts";
import type { Installation } from "./installation.ts";
import type { Random } from "./random.ts";
import { Violation } from "./scenario.ts";

/** What a client knows about an upload that grows append by append. */
export interface Growing {
  protocol: "tus" | "resumable";
  /** Null until a response has named it. */
  url: string | null;
  /** Of the file, one for each creation: a client that never saw the response creates the upload again. */
  names: string[];
  /** How many of the creations carried bytes. */
  withBytes: number;
  bytes: Buffer<ArrayBuffer>;
  sizeBytes: number;
  sha256: string;
  /** The furthest offset that any response has stated. */
  offset: number;
  /** From the response to the last byte. */
  fileId: string | null;
}

const kib = 1024;
const slowPieces = 4;
const pauseMs = 10;

/** Both protocols send the same bytes with headers of their own. */
const protocols = {
  tus: {
    common: { "tus-resumable": "1.0.0" },
    open: (name: string) => ({ "upload-metadata": `filename ${Buffer.from(name).toString("base64")}` }),
    append: () => ({ "content-type": "application/offset+octet-stream" }),
    openWith: () => ({ "content-type": "application/offset+octet-stream" }),
  },
  resumable: {
    common: { "upload-draft-interop-version": "8" },
    open: (name: string) => ({
      "upload-complete": "?0",
      "content-disposition": `attachment; filename="${name}"`,
    }),
    append: (isLast: boolean) => ({
      "content-type": "application/partial-upload",
      "upload-complete": isLast ? "?1" : "?0",
    }),
    openWith: (isLast: boolean) => ({ "upload-complete": isLast ? "?1" : "?0" }),
  },
};

export function createAppender({ url, key, call }: Installation, random: Random, onAnswer: () => void) {
  async function check(upload: Growing, method: string, response: Response): Promise<Response> {
    const body = await response.text();
    if (!response.ok)
      throw new Violation(`${method} of ${upload.protocol} was answered with ${response.status}: ${body}`);
    onAnswer();
    upload.fileId = response.headers.get("upstow-file-id") ?? upload.fileId;
    return response;
  }

  async function send(upload: Growing, request: RequestInit & { method: string }): Promise<Response> {
    const { common } = protocols[upload.protocol];
    const response = await fetch(upload.url ?? "", {
      ...request,
      headers: { ...common, ...request.headers },
    });
    return check(upload, request.method, response);
  }

  function begin(): Growing {
    const protocol = random.chance(0.5) ? "tus" : "resumable";
    const bytes = randomBytes(chooseSize(random));
    const sha256 = hash("sha256", bytes);
    return {
      ...{ protocol, bytes, sizeBytes: bytes.length, sha256 },
      ...{ url: null, names: [], withBytes: 0, offset: 0, fileId: null },
    };
  }

  /** With the first bytes, perhaps all of them, or without any. */
  async function create(upload: Growing): Promise<void> {
    const { protocol, bytes, names } = upload;
    const name = randomUUID();
    names.push(name);
    const { common, open, openWith } = protocols[protocol];
    const first = random.chance(0.5) ? chooseBody(upload) : null;
    if (first !== null) upload.withBytes++;
    const response = await createWithBytes({
      url: `${url}/${protocol}`,
      headers: {
        ...{ authorization: `Bearer ${key}`, "upload-length": String(bytes.length) },
        ...common,
        ...open(name),
        ...(first === null
          ? { "content-length": "0" }
          : { ...openWith(first.isLast), "content-length": String(first.body.length) }),
      },
      pieces: inPieces(first?.body ?? Buffer.alloc(0), first?.isSlow ?? false),
      onLocation(location) {
        upload.url = new URL(location, url).href;
      },
    });
    await check(upload, "POST", response);
    upload.offset = first?.body.length ?? 0;
  }

  /** Asks where to continue: nowhere before what was acknowledged. */
  async function ask(upload: Growing): Promise<void> {
    const response = await send(upload, { method: "HEAD" });
    const offset = Number(response.headers.get("upload-offset") ?? Number.NaN);
    if (!(offset >= upload.offset && offset <= upload.sizeBytes))
      throw new Violation(`an upload of ${upload.protocol} fell from ${upload.offset} to ${offset}`);
    upload.offset = offset;
  }

  function chooseBody({ offset, bytes }: Growing) {
    const body = bytes.subarray(offset, offset + random.int(20, 900) * kib);
    return { body, isLast: offset + body.length === bytes.length, isSlow: random.chance(0.4) };
  }

  async function append(upload: Growing): Promise<void> {
    const { offset, protocol } = upload;
    const { body, isLast, isSlow } = chooseBody(upload);
    await send(upload, {
      method: "PATCH",
      headers: { "upload-offset": String(offset), ...protocols[protocol].append(isLast) },
      ...(isSlow ? { body: ReadableStream.from(inPieces(body, isSlow)), duplex: "half" } : { body }),
    });
    upload.offset = offset + body.length;
  }

  /** Takes an upload from wherever a crash has left it to its end. */
  async function finish(upload: Growing): Promise<void> {
    if (upload.url === null) await create(upload);
    else await ask(upload);
    while (upload.fileId === null) {
      if (upload.offset === upload.sizeBytes && upload.protocol === "tus")
        throw new Violation("an upload of tus has all of its bytes and is no file");
      await append(upload);
    }
    upload.bytes = Buffer.alloc(0);
  }

  async function download(id: string, sha256: string): Promise<void> {
    const { body } = await call("GET", `files/${id}`, { key });
    const response = await fetch(body.file.url);
    const served = hash("sha256", Buffer.from(await response.arrayBuffer()));
    if (response.status !== 200 || served !== sha256)
      throw new Violation(`${id} was served with ${response.status} and other bytes`);
  }

  return { begin, finish, download };
}

/** Small ones are stored, saved and confirmed by one append. Buckets take parts of 5 MiB, so some have several. */
function chooseSize(random: Random): number {
  if (random.chance(0.4)) return random.int(1, 40 * kib);
  return random.int(100, random.chance(0.3) ? 12_000 : 1_500) * kib;
}

/** Slow ones leave time to be killed in the middle of the body. */
async function* inPieces(bytes: Buffer, isSlow: boolean): AsyncGenerator<Buffer> {
  if (!isSlow) return yield bytes;
  const step = Math.max(1, Math.ceil(bytes.length / slowPieces));
  for (let at = 0; at < bytes.length; at += step) {
    yield bytes.subarray(at, at + step);
    await wait(pauseMs);
  }
}
