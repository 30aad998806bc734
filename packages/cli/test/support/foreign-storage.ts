import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface ForeignFile {
  id: string;
  name?: string;
  bytes: Buffer;
  type?: string;
  status?: string;
  customId?: string;
  isPrivate?: boolean;
  /** Answers 410; where it breaks, from then on. */
  isAway?: boolean;
  /** The first download breaks off here. */
  breaksAt?: number;
}

export type ForeignStorage = Awaited<ReturnType<typeof startForeignStorage>>;

/** What UploadThing 7 and Supabase Storage say over HTTP, as far as an import asks them. Pages have two entries at most. */
export async function startForeignStorage() {
  const apiKey = randomBytes(8).toString("hex");
  const files = new Map<string, ForeignFile>();
  const buckets = new Map<string, Map<string, ForeignFile>>();
  const pageSize = 2;
  let isLimited = false;

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", url);
    const path = decodeURIComponent(pathname);
    const ofApp = /^\/a\/app1\/(.*)$/.exec(path)?.[1];
    if (ofApp !== undefined) {
      const file = files.get(ofApp);
      const isAllowed = file?.isPrivate !== true || searchParams.get("signature") === apiKey;
      return send(request, response, isAllowed ? file : undefined);
    }
    const { "x-uploadthing-api-key": givenKey, authorization } = request.headers;
    if (givenKey !== apiKey && authorization !== `Bearer ${apiKey}`) {
      return answer(response, 401, { message: "Invalid API key" });
    }
    if (isLimited) {
      isLimited = false;
      response.setHeader("retry-after", "1");
      return answer(response, 429, { error: "slow down" });
    }
    return path.startsWith("/v6/")
      ? answer(response, 200, await askUploadThing(path, request))
      : askSupabase(path, request, response);
  }

  async function askUploadThing(path: string, request: IncomingMessage): Promise<object> {
    const body = (await json(request)) as { offset: number; fileKey: string };
    if (path === "/v6/requestFileAccess")
      return { ufsUrl: `${url}/a/app1/${body.fileKey}?signature=${apiKey}` };
    const all = [...files.values()].map(({ id, name, bytes, customId = null, status = "Uploaded" }) => ({
      id: `file_${id}`,
      key: id,
      name,
      size: bytes.length,
      customId,
      status,
      uploadedAt: 0,
    }));
    const end = body.offset + pageSize;
    return { files: all.slice(body.offset, end), hasMore: end < all.length };
  }

  async function askSupabase(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const [, kind, bucket = "", key = ""] =
      /^\/storage\/v1\/object\/(list\/)?([^/]+)\/?(.*)$/.exec(path) ?? [];
    const objects = buckets.get(bucket) ?? new Map<string, ForeignFile>();
    if (kind === undefined) return send(request, response, objects.get(key));
    const { prefix, offset } = (await json(request)) as { prefix: string; offset: number };
    answer(response, 200, listFolder(objects, prefix).slice(offset, offset + pageSize));
  }

  return {
    url,
    apiKey,
    add: (file: ForeignFile) => void files.set(file.id, file),
    bringBack(id: string) {
      const { isAway: _, breaksAt: __, ...file } = files.get(id) as ForeignFile;
      files.set(id, file);
    },
    addObject(bucket: string, file: ForeignFile) {
      buckets.set(bucket, (buckets.get(bucket) ?? new Map()).set(file.id, file));
    },
    /** The next call gets 429. */
    limitOnce() {
      isLimited = true;
    },
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

const etagOf = (bytes: Buffer) => `"${createHash("md5").update(bytes).digest("hex")}"`;

/** Folders come as entries without an id. */
function listFolder(objects: Map<string, ForeignFile>, folder: string) {
  const start = folder === "" ? "" : `${folder}/`;
  const entries = new Map<string, object>();
  for (const { id, bytes, type } of objects.values()) {
    if (!id.startsWith(start)) continue;
    const [name = "", ...below] = id.slice(start.length).split("/");
    const metadata = { eTag: etagOf(bytes), size: bytes.length, mimetype: type, contentLength: bytes.length };
    entries.set(
      name,
      below.length > 0
        ? { name, id: null, updated_at: null, metadata: null }
        : { name, id: `uuid-${id}`, updated_at: "2026-11-17T08:00:00.000Z", metadata },
    );
  }
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function send(request: IncomingMessage, response: ServerResponse, file: ForeignFile | undefined): void {
  if (file === undefined) return void answer(response, 404, { error: "not found" });
  const { bytes, breaksAt, type = "application/octet-stream" } = file;
  const isFirst = breaksAt !== undefined && request.headers.range === undefined;
  if (file.isAway === true && !isFirst) return void response.writeHead(410).end();
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  const headers = { "content-type": type, etag: etagOf(bytes), "content-length": bytes.length - start };
  const range = { "content-range": `bytes ${start}-${bytes.length - 1}/${bytes.length}` };
  response.writeHead(start === 0 ? 200 : 206, start === 0 ? headers : { ...headers, ...range });
  if (request.method === "HEAD") return void response.end();
  if (breaksAt === undefined || start > 0) return void response.end(bytes.subarray(start));
  response.write(bytes.subarray(0, breaksAt), () => setTimeout(() => response.destroy(), 50));
}
