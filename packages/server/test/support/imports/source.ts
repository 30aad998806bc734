import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Answering = (request: IncomingMessage, response: ServerResponse) => void;

export interface Source {
  url: string;
  requests: IncomingMessage[];
  /** How a path is answered. */
  paths: Map<string, Answering>;
  close(): Promise<void>;
}

/** Somebody's web server on 127.0.0.1. */
export async function startSource(): Promise<Source> {
  const server = http.createServer((request, response) => {
    source.requests.push(request);
    const answering = source.paths.get(request.url ?? "");
    if (answering === undefined) response.writeHead(404).end("nothing here");
    else answering(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const source: Source = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    paths: new Map(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return source;
}

/** Sends the bytes, as a server does that can continue where somebody stopped. */
export function serve(bytes: Buffer, type = "application/octet-stream", etag = '"1"'): Answering {
  return (request, response) => {
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? "") ?? [];
    const isPart = from !== undefined && request.headers["if-range"] === etag;
    const rest = isPart ? bytes.subarray(Number(from)) : bytes;
    response.writeHead(isPart ? 206 : 200, {
      "content-type": type,
      "content-length": rest.length,
      "accept-ranges": "bytes",
      etag,
      ...(isPart ? { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}),
    });
    response.end(rest);
  };
}

/** Ends the connection after so many bytes, the first `times` times. */
export function cutAfter(byteCount: number, times: number, answering: Answering): Answering {
  let left = times;
  return (request, response) => {
    if (left-- <= 0) return answering(request, response);
    const { end } = response;
    response.end = ((rest: Buffer) => {
      response.write(rest.subarray(0, byteCount), () => response.socket?.destroySoon());
      return response;
    }) as typeof end;
    answering(request, response);
  };
}
