import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { BucketAct, BucketRequest } from "./bucket-answers.ts";
import { createHonestBucket, type HonestOptions } from "./honest-bucket.ts";
import { type Lie, lies } from "./hostile-lies.ts";

export type LieName = keyof typeof lies;

export interface HostileBucket {
  /** An endpoint for path-style requests to any bucket name; credentials are not checked. */
  url: string;
  /** From now on the bucket tells these lies and no others; without arguments it is honest. */
  lie(...names: LieName[]): void;
  /** How many requests of this kind have arrived. */
  count(act: BucketAct): number;
  openConnections(): number;
  stop(): Promise<void>;
}

/** An S3 server on a free port of 127.0.0.1 that works like a real one until it is told to lie. */
export async function startHostileBucket(options: HonestOptions = {}): Promise<HostileBucket> {
  const answerHonestly = createHonestBucket(options);
  const counts = new Map<BucketAct, number>();
  const sockets = new Set<Socket>();
  let told: Lie[] = [];

  const server = createServer(async (incoming, answer) => {
    answer.on("error", () => {});
    const request = readRequest(incoming);
    counts.set(request.act, (counts.get(request.act) ?? 0) + 1);
    const body = await buffer(incoming).catch(() => Buffer.alloc(0));
    const lie = told.find((candidate) => isMeant(candidate, request));
    if (lie === undefined) answerHonestly(answer, request, body);
    else lie.tell(answer, request);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lie(...names) {
      told = names.map((name) => lies[name]);
    },
    count: (act) => counts.get(act) ?? 0,
    openConnections: () => sockets.size,
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      // Those that were written to by hand are none of the server's own.
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function isMeant({ acts, onFinalName }: Lie, { act, key }: BucketRequest): boolean {
  if (!acts.includes(act)) return false;
  return onFinalName === undefined || onFinalName === /(?:^|\/)f\//.test(key);
}

function readRequest({ method, url, headers }: IncomingMessage): BucketRequest {
  const { pathname, searchParams: query } = new URL(url ?? "/", "http://bucket");
  const key = decodeURIComponent(pathname).split("/").slice(2).join("/");
  return { act: actOf(String(method), key, query, "x-amz-copy-source" in headers), key, query, headers };
}

const ofBucket: Record<string, BucketAct> = { HEAD: "head-bucket", POST: "delete-objects" };
const ofUpload: Record<string, BucketAct> = {
  PUT: "put-part",
  GET: "list-parts",
  POST: "complete-upload",
  DELETE: "abort-upload",
};
const ofObject: Record<string, BucketAct> = {
  PUT: "put-object",
  GET: "get-object",
  HEAD: "head-object",
  DELETE: "delete-object",
};

function actOf(method: string, key: string, query: URLSearchParams, isCopy: boolean): BucketAct {
  if (method === "OPTIONS") return "preflight";
  if (key === "") return ofBucket[method] ?? (query.has("uploads") ? "list-uploads" : "list-objects");
  if (query.has("uploads")) return "create-upload";
  const isOfUpload = query.has("uploadId");
  if (isCopy) return isOfUpload ? "copy-part" : "copy-object";
  return (isOfUpload ? ofUpload : ofObject)[method] ?? "get-object";
}
