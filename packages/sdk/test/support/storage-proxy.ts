import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";

/** A PUT as the storage's side of the line saw it. */
export interface SeenPut {
  path: string;
  receivedBytes: number;
  /** Of the answer; null while there is none, and where the line was cut. */
  status: number | null;
}

export interface StorageProxy {
  url: string;
  puts: SeenPut[];
  /** What else came through, such as "POST /api/v1/upload/request". */
  calls: string[];
  /** Decides whether the answer to such a call is lost: the service has done it, and its caller hears nothing. */
  losesAnswer: (call: string) => boolean;
  /** Where requests go. */
  target: string;
  /** Decides, by the number of the PUT from 1 on, whether its line is cut in the middle of the body. */
  cutsPut: (number: number) => boolean;
  /** Lets so many PUTs through; further ones wait, their bodies unread, until there is room. */
  allow(puts: number): void;
  /** Cuts the lines of those that wait. */
  dropHeld(): void;
  stop(): Promise<void>;
}

/** Stands between clients and the service, as networks do: it counts, cuts and holds up what is uploaded. */
export async function startStorageProxy(): Promise<StorageProxy> {
  let room = Number.POSITIVE_INFINITY;
  let held: { request: IncomingMessage; go: () => void }[] = [];
  const server = createServer((request, response) => {
    if (request.method !== "PUT") {
      proxy.calls.push(`${request.method} ${request.url?.split("?", 1)[0]}`);
      return forward(request, response, null);
    }
    const put: SeenPut = { path: request.url ?? "", receivedBytes: 0, status: null };
    proxy.puts.push(put);
    const isCut = proxy.cutsPut(proxy.puts.length);
    const go = () => (isCut ? cut(request, put) : forward(request, response, put));
    if (room > 0) {
      room--;
      return go();
    }
    held.push({ request, go });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  function cut(request: IncomingMessage, put: SeenPut): void {
    request.on("data", (chunk: Buffer) => {
      put.receivedBytes += chunk.length;
      request.socket.destroy();
    });
    request.on("error", () => {});
  }

  function forward(request: IncomingMessage, response: ServerResponse, put: SeenPut | null): void {
    const { method = "GET", url = "/", headers } = request;
    const onward = send(proxy.target + url, { method, headers }, (answer) => {
      if (put !== null) put.status = answer.statusCode ?? null;
      else if (proxy.losesAnswer(`${method} ${url.split("?", 1)[0]}`)) return void request.socket.destroy();
      // The buffers of a line that is used again have grown: the next PUT would fit into them while it is held.
      const headers = put === null ? answer.headers : { ...answer.headers, connection: "close" };
      response.writeHead(answer.statusCode ?? 502, headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.on("data", (chunk: Buffer) => {
      if (put !== null) put.receivedBytes += chunk.length;
    });
    // A client that goes away in the middle takes its half of a body with it.
    request.on("close", () => request.complete || onward.destroy());
    request.pipe(onward);
  }

  const proxy: StorageProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    puts: [],
    calls: [],
    losesAnswer: () => false,
    target: "",
    cutsPut: () => false,
    allow(puts) {
      room = puts;
      const next = held.splice(0, puts);
      room -= next.length;
      // A client that has gone meanwhile sends nothing: forwarded, its PUT would occupy the upload URL.
      for (const { request, go } of next) if (!request.destroyed) go();
    },
    dropHeld() {
      for (const { request } of held.splice(0)) request.socket.destroy();
    },
    async stop() {
      held = [];
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}
