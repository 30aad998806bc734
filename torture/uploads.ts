import { hash } from "node:crypto";
import { PART_SIZE_BYTES } from "@upstow/contract";
import type { Answer } from "../packages/server/test/support/start-app.ts";
import type { Installation } from "./installation.ts";
import { putSlowly } from "./put-slowly.ts";
import type { Random } from "./random.ts";
import { Violation } from "./scenario.ts";

/** What a client knows about one upload: only what the server has answered. */
export interface Upload {
  fileId: string;
  key: string;
  url: string;
  /** Null for a single upload. */
  uploadId: string | null;
  pieces: Piece[];
  sha256: string;
  /** A completion was sent; unless it was acknowledged, it may have happened or not. */
  isCompleteSent: boolean;
  /** A completion was answered with 200. */
  isAcknowledged: boolean;
  /** And looked at afterwards. */
  isCompleted: boolean;
}

interface Piece {
  url: string;
  bytes: Buffer<ArrayBuffer>;
  /** Of the acknowledged PUT. */
  etag: string | null;
}

const contentType = "application/octet-stream";
const kib = 1024;
const slowPieces = 4;

export function createUploader(
  { call, key }: Pick<Installation, "call" | "key">,
  random: Random,
  onAnswer: () => void,
) {
  async function post(path: string, body: unknown): Promise<Answer> {
    const answer = await call("POST", path, { key, body });
    onAnswer();
    return answer;
  }

  async function open(bytes: Buffer<ArrayBuffer>[]): Promise<Upload> {
    const isMultipart = bytes.length > 1;
    const whole = Buffer.concat(bytes);
    const answer = await post(isMultipart ? "upload/multipart/init" : "upload/request", {
      fileName: "torture.bin",
      fileSize: whole.length,
      contentType,
      routeSlug: "default",
    });
    expectStatus(answer, 200, "a request for an upload");
    const { fileId, uploadId = null, key: fileKey, cdnUrl, uploadUrl, parts = [] } = answer.body;
    return {
      fileId,
      key: fileKey,
      url: cdnUrl,
      uploadId,
      pieces: bytes.map((piece, i) => ({ bytes: piece, url: parts[i]?.uploadUrl ?? uploadUrl, etag: null })),
      sha256: hash("sha256", whole),
      isCompleteSent: false,
      isAcknowledged: false,
      isCompleted: false,
    };
  }

  async function put(upload: Upload, piece: Piece): Promise<void> {
    const answer = await (random.chance(0.3)
      ? // Leaves time to be killed in the middle of the body.
        putSlowly(piece.url, piece.bytes, { contentType, pieces: slowPieces, pauseMs: 15 })
      : putAtOnce(piece));
    onAnswer();
    if (answer.status !== 200)
      throw new Violation(`a PUT for ${upload.fileId} was answered with ${answer.status}: ${answer.text}`);
    piece.etag = answer.etag;
  }

  async function complete(upload: Upload): Promise<Answer> {
    upload.isCompleteSent = true;
    const { fileId, uploadId, pieces } = upload;
    const parts = pieces.map(({ etag }, i) => ({ partNumber: i + 1, etag }));
    const answer = await (uploadId === null
      ? post("upload/complete", { fileId })
      : post("upload/multipart/complete", { fileId, uploadId, parts }));
    if (answer.status !== 200) return answer;
    // However many ask and however often the server dies, one of them hears of success.
    if (upload.isAcknowledged) throw new Violation(`${fileId} was completed twice`);
    upload.isAcknowledged = true;
    return answer;
  }

  /** What a client does that comes back to a multipart upload: it asks what has arrived. */
  async function checkParts(upload: Upload): Promise<void> {
    const { fileId, uploadId } = upload;
    const answer = await call("GET", `upload/multipart/${fileId}?uploadId=${uploadId}`, { key });
    if (answer.status === 404 && upload.isCompleteSent) return;
    expectStatus(answer, 200, `a look at the open upload ${fileId}`);
    const arrived = new Map<number, string>();
    for (const { partNumber, etag } of answer.body.parts) arrived.set(partNumber, unquote(etag));
    for (const [i, piece] of upload.pieces.entries()) {
      const etag = arrived.get(i + 1);
      if (piece.etag !== null && etag !== unquote(piece.etag))
        throw new Violation(`part ${i + 1} of ${fileId} was acknowledged and is lost`);
      // It arrived, and only the acknowledgement was lost.
      if (piece.etag === null && etag !== undefined) piece.etag = etag;
    }
  }

  /** Takes an upload from wherever a crash has left it to its end. */
  async function finish(upload: Upload): Promise<void> {
    if (upload.uploadId !== null) await checkParts(upload);
    for (const piece of upload.pieces) {
      if (piece.etag === null && !upload.isCompleteSent) await put(upload, piece);
    }
    // A doubled completion must count once.
    const isDoubled = random.chance(0.15);
    const wasSent = upload.isCompleteSent;
    const answers = await Promise.all(isDoubled ? [complete(upload), complete(upload)] : [complete(upload)]);
    await judge(upload, answers, wasSent);
  }

  async function judge(upload: Upload, answers: Answer[], wasSent: boolean): Promise<void> {
    const accepted = answers.filter(({ status }) => status === 200).length;
    const odd = answers.find(({ status }) => status !== 200 && status !== 404);
    if (odd !== undefined) expectStatus(odd, 200, `the completion of ${upload.fileId}`);
    if (accepted === 0 && !wasSent)
      throw new Violation(`the open upload ${upload.fileId} was gone: ${JSON.stringify(answers[0]?.body)}`);
    await check(upload);
    upload.isCompleted = true;
    for (const piece of upload.pieces) piece.bytes = Buffer.alloc(0);
  }

  async function check(upload: Upload): Promise<void> {
    const answer = await call("GET", `files/${encodeURIComponent(upload.key)}`, { key });
    expectStatus(answer, 200, `a look at the completed file ${upload.fileId}`);
    const { status, sha256 } = answer.body.file;
    // The checksum of a whole that arrived in parts is not known to the server; downloads compare those.
    const expected = upload.uploadId === null ? upload.sha256 : null;
    if (status !== "UPLOADED" || sha256 !== expected)
      throw new Violation(`${upload.fileId} was completed and is ${status} with SHA-256 ${sha256}`);
  }

  async function download(upload: Upload): Promise<void> {
    const answer = await fetch(upload.url);
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== 200 || hash("sha256", bytes) !== upload.sha256)
      throw new Violation(`${upload.fileId} was served with ${answer.status} and other bytes`);
  }

  /** Few and nearly empty: they cost ten megabytes of disk each. */
  const openMultipart = () =>
    open([sparse(PART_SIZE_BYTES), sparse(PART_SIZE_BYTES), sparse(random.int(1, 64) * kib)]);
  const openSingle = () => open([filled(random.int(10, random.chance(0.2) ? 200 : 40) * kib)]);

  const sparse = (sizeBytes: number): Buffer<ArrayBuffer> => {
    const bytes = Buffer.alloc(sizeBytes);
    bytes.writeUInt32LE(random.int(0, 2 ** 32 - 1));
    return bytes;
  };
  const filled = (sizeBytes: number): Buffer<ArrayBuffer> => {
    const pattern = Buffer.alloc(64);
    for (let at = 0; at < pattern.length; at += 4) pattern.writeUInt32LE(random.int(0, 2 ** 32 - 1), at);
    return Buffer.alloc(sizeBytes, pattern);
  };

  const openSized = (sizeBytes: number) => open([filled(sizeBytes)]);

  return { openSized, openSingle, openMultipart, finish, check, download };
}

async function putAtOnce({ url, bytes }: Piece) {
  const headers = { "content-type": contentType };
  const answer = await fetch(url, { method: "PUT", headers, body: bytes });
  return { status: answer.status, etag: answer.headers.get("etag") ?? "", text: await answer.text() };
}

function expectStatus(answer: Answer, status: number, what: string): void {
  if (answer.status === status) return;
  throw new Violation(`${what} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
}

const unquote = (etag: string): string => etag.replaceAll('"', "");
