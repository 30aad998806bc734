/** The common part of Node frameworks' requests. */
export interface NodeRequest {
  method?: string | undefined;
  url?: string | undefined;
  headers: Record<string, string | string[] | undefined>;
  /** As the framework reports it, also behind a proxy. */
  protocol?: string | undefined;
}

/** `parsed` is the body if the framework has already read it; otherwise it is in `stream`. */
export async function toWebRequest(
  node: NodeRequest,
  parsed: unknown,
  stream: AsyncIterable<Uint8Array> | null,
): Promise<Request> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(node.headers)) {
    // HTTP/2 pseudo-headers begin with a colon.
    if (value === undefined || name.startsWith(":")) continue;
    for (const line of [value].flat()) headers.append(name, line);
  }
  const method = node.method ?? "GET";
  const url = new URL(node.url ?? "/", `${node.protocol ?? "http"}://${headers.get("host") ?? "localhost"}`);
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers });
  const body = parsed === undefined ? await readAll(stream) : asItCame(parsed);
  return new Request(url, { method, headers, body });
}

/** Some parsers leave bodies as bytes or text. */
function asItCame(parsed: unknown): string | Uint8Array<ArrayBuffer> {
  const isRaw = typeof parsed === "string" || parsed instanceof Uint8Array;
  return isRaw ? (parsed as string | Uint8Array<ArrayBuffer>) : JSON.stringify(parsed);
}

const longestBodyBytes = 1024 * 1024;

/** Reads slightly more than allowed, so that the handler can see the body is too large. */
async function readAll(stream: AsyncIterable<Uint8Array> | null): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream ?? []) {
    chunks.push(new Uint8Array(chunk));
    sizeBytes += chunk.byteLength;
    if (sizeBytes > longestBodyBytes) break;
  }
  return new Blob(chunks);
}
