import { once } from "node:events";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Certificate } from "./certificate.ts";

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** How to answer; 200 at once unless told otherwise. */
  answer: (request: Received, response: ServerResponse) => void | Promise<void>;
  waitFor(count: number): Promise<void>;
  close(): Promise<void>;
}

/** A customer's webhook endpoint on 127.0.0.1, over real TLS. */
export async function startReceiver(certificate: Certificate): Promise<Receiver> {
  const waiters = new Set<() => void>();
  const server = https.createServer(certificate, async (request, response) => {
    const received = { path: request.url ?? "", headers: request.headers, body: await buffer(request) };
    receiver.received.push(received);
    for (const check of waiters) check();
    await receiver.answer(received, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `https://127.0.0.1:${port}`,
    port,
    received: [],
    answer: (_request, response) => void response.end("ok"),
    waitFor(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = () => {
        if (receiver.received.length < count) return;
        waiters.delete(check);
        resolve();
      };
      waiters.add(check);
      check();
      return promise;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}
