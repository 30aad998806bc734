import { hash, randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Installation } from "./installation.ts";
import type { Random } from "./random.ts";
import { Violation } from "./scenario.ts";

/** What a client knows about an upload that grows append by append. */
export interface Growing {
  protocol: "tus" | "resumable";
  url: string;
  bytes: Buffer<ArrayBuffer>;
  sizeBytes: number;
  sha256: string;
  /** The furthest offset that any response has stated. */
  offset: number;
  /** From the response to the last byte. */
  file: { id: string; url: string } | null;
}

const kib = 1024;
const slowPieces = 4;
const pauseMs = 10;

/** Both protocols send the same bytes with headers of their own. */
const protocols = {
  tus: {
    common: { "tus-resumable": "1.0.0" },
    open: {},
    append: () => ({ "content-type": "application/offset+octet-stream" }),
  },
  resumable: {
    common: { "upload-draft-interop-version": "8" },
    open: { "upload-complete": "?0" },
    append: (isLast: boolean) => ({
      "content-type": "application/partial-upload",
      "upload-complete": isLast ? "?1" : "?0",
    }),
  },
};

export function createAppender({ url, key }: Installation, random: Random, onAnswer: () => void) {
  async function send(upload: Pick<Growing, "protocol" | "url">, request: RequestInit): Promise<Response> {
    const { common } = protocols[upload.protocol];
    const response = await fetch(upload.url, { ...request, headers: { ...common, ...request.headers } });
    if (!response.ok)
      throw new Violation(
        `${request.method} of ${upload.protocol} was answered with ${response.status}: ${await response.text()}`,
      );
    await response.arrayBuffer();
    onAnswer();
    return response;
  }

  async function open(): Promise<Growing> {
    const protocol = random.chance(0.5) ? "tus" : "resumable";
    const bytes = randomBytes(chooseSize(random));
    const response = await send(
      { protocol, url: `${url}/${protocol}` },
      {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "upload-length": String(bytes.length),
          ...protocols[protocol].open,
        },
      },
    );
    const location = new URL(response.headers.get("location") ?? "", url).href;
    const sha256 = hash("sha256", bytes);
    return { protocol, url: location, bytes, sizeBytes: bytes.length, sha256, offset: 0, file: null };
  }

  function learn(upload: Growing, response: Response): void {
    const [id, fileUrl] = ["upstow-file-id", "upstow-file-url"].map((name) => response.headers.get(name));
    if (id && fileUrl) upload.file = { id, url: fileUrl };
  }

  /** Asks where to continue: nowhere before what was acknowledged. */
  async function ask(upload: Growing): Promise<void> {
    const response = await send(upload, { method: "HEAD" });
    const offset = Number(response.headers.get("upload-offset") ?? Number.NaN);
    if (!(offset >= upload.offset && offset <= upload.sizeBytes))
      throw new Violation(`an upload of ${upload.protocol} fell from ${upload.offset} to ${offset}`);
    upload.offset = offset;
    learn(upload, response);
  }

  async function append(upload: Growing): Promise<void> {
    const { offset, bytes, protocol } = upload;
    const body = bytes.subarray(offset, offset + random.int(20, 900) * kib);
    const end = offset + body.length;
    const headers = {
      "upload-offset": String(offset),
      ...protocols[protocol].append(end === bytes.length),
    };
    const isSlow = random.chance(0.4);
    const response = await send(upload, {
      method: "PATCH",
      headers,
      ...(isSlow ? { body: ReadableStream.from(inPieces(body)), duplex: "half" } : { body }),
    });
    upload.offset = end;
    learn(upload, response);
  }

  /** Takes an upload from wherever a crash has left it to its end. */
  async function finish(upload: Growing): Promise<void> {
    await ask(upload);
    while (upload.file === null) {
      if (upload.offset === upload.sizeBytes && upload.protocol === "tus")
        throw new Violation("an upload of tus has all of its bytes and is no file");
      await append(upload);
    }
    upload.bytes = Buffer.alloc(0);
  }

  async function download({ file, sha256 }: Growing): Promise<void> {
    const response = await fetch(file?.url ?? "");
    const served = hash("sha256", Buffer.from(await response.arrayBuffer()));
    if (response.status !== 200 || served !== sha256)
      throw new Violation(`${file?.id} was served with ${response.status} and other bytes`);
  }

  return { open, finish, download };
}

/** Small ones are stored, saved and confirmed by one append. Buckets take parts of 5 MiB, so some have several. */
function chooseSize(random: Random): number {
  if (random.chance(0.4)) return random.int(1, 40 * kib);
  return random.int(100, random.chance(0.3) ? 12_000 : 1_500) * kib;
}

/** Leaves time to be killed in the middle of the body. */
async function* inPieces(bytes: Buffer) {
  const step = Math.max(1, Math.ceil(bytes.length / slowPieces));
  for (let at = 0; at < bytes.length; at += step) {
    yield bytes.subarray(at, at + step);
    await wait(pauseMs);
  }
}
