import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What to do with a request instead of passing it on and its answer back. */
export type Fault =
  /** Answers itself. The server sees the request first if `isForwarded`. */
  | {
      kind: "answer";
      status: number;
      headers?: Record<string, string>;
      body?: string;
      isForwarded?: boolean;
    }
  /** Cuts the connection. The server sees the request first if `isForwarded`. */
  | { kind: "reset"; isForwarded?: boolean }
  /** Passes on so many bytes of the answer's body, then cuts the connection. */
  | { kind: "cut"; afterBytes: number }
  /** Passes on so many bytes of the request's body, then cuts both connections. */
  | { kind: "cut-body"; afterBytes: number }
  /** Passes it on later. */
  | { kind: "wait"; until: Promise<unknown> }
  /** Never answers. */
  | { kind: "hang" };

export interface FaultProxy {
  url: string;
  /** Asked for every request; null lets it pass. */
  setFaults(choose: (request: IncomingMessage) => Fault | null): void;
  /** Requests that a fault hit. */
  faultCount(): number;
  close(): Promise<void>;
}

/** Stands in front of an HTTP server on a free port of 127.0.0.1 and breaks things on demand. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(target);
  let choose: (request: IncomingMessage) => Fault | null = () => null;
  let count = 0;

  /** Headers go on as they came, Host too: it is part of signatures. */
  function forward(
    request: IncomingMessage,
    response: ServerResponse,
    use: (answer: IncomingMessage) => void,
  ) {
    const { method, url: path, headers } = request;
    // A connection for each request: one that the server closed meanwhile would be a fault nobody asked for.
    const outgoing = httpRequest({ hostname, port, method, path, headers, agent: false });
    const fail = () => reset(response);
    outgoing.on("error", fail);
    outgoing.on("response", (answer) => {
      // From here on what is wrong shows in the answer: some servers send a stray byte or two after it.
      outgoing.off("error", fail).on("error", () => {});
      use(answer);
    });
    response.on("close", () => outgoing.destroy());
    request.pipe(outgoing);
  }

  function cutBody(request: IncomingMessage, response: ServerResponse, afterBytes: number): void {
    const { method, url: path, headers } = request;
    const outgoing = httpRequest({ hostname, port, method, path, headers, agent: false });
    let left = afterBytes;
    const cut = () => {
      outgoing.destroy();
      reset(response);
    };
    // Node never calls back for bytes written to a connection that the server has closed meanwhile.
    outgoing.on("error", cut).on("close", cut);
    const pass = (chunk: Buffer) => {
      const passed = chunk.subarray(0, left);
      left -= passed.length;
      if (left === 0) request.off("data", pass).off("end", cut).resume();
      outgoing.write(passed, () => left === 0 && cut());
    };
    request.on("data", pass).on("end", cut);
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const fault = choose(request);
    if (fault !== null) count++;
    const pass = (afterBytes = Number.POSITIVE_INFINITY) =>
      forward(request, response, (answer) => relay(answer, response, afterBytes));
    const finish = (end: () => void, isForwarded: boolean | undefined) => {
      if (isForwarded === true) forward(request, response, (answer) => answer.on("close", end).resume());
      else request.on("end", end).resume();
    };
    if (fault === null) pass();
    else if (fault.kind === "wait") void fault.until.then(() => pass());
    else if (fault.kind === "cut-body") cutBody(request, response, fault.afterBytes);
    else if (fault.kind === "cut") pass(fault.afterBytes);
    else if (fault.kind === "reset") finish(() => reset(response), fault.isForwarded);
    else if (fault.kind === "answer")
      finish(() => response.writeHead(fault.status, fault.headers).end(fault.body), fault.isForwarded);
  }

  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setFaults(next) {
      choose = next;
    },
    faultCount: () => count,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

function relay(answer: IncomingMessage, response: ServerResponse, afterBytes: number): void {
  let passedBytes = 0;
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  answer.on("data", (chunk: Buffer) => {
    const rest = Math.max(0, afterBytes - passedBytes);
    passedBytes += chunk.length;
    if (chunk.length > rest) response.write(chunk.subarray(0, rest), () => reset(response));
    else if (!response.write(chunk)) {
      answer.pause();
      response.once("drain", () => answer.resume());
    }
  });
  answer.on("end", () => passedBytes <= afterBytes && response.end());
  answer.on("error", () => reset(response));
}

/** The same faults for the same seed: one request in `1 / rate` gets one of them. */
export function createRandomFaults(rate: number, seed: number, kinds: Fault[]): () => Fault | null {
  let state = seed;
  // mulberry32
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return () => (random() < rate ? (kinds[Math.floor(random() * kinds.length)] ?? null) : null);
}
