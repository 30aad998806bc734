import { Agent, type IncomingHttpHeaders, request } from "node:http";

export interface RawRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
}

export interface FuzzAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Undefined where the answer is not JSON. */
  json: unknown;
}

const patienceMs = 60_000;

/** Sends paths and headers as they are; `fetch` would tidy them up. */
export function createClient(url: string, sockets: number) {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: sockets });

  function send({ method, path, headers, body }: RawRequest): Promise<FuzzAnswer> {
    return new Promise((resolve, reject) => {
      const length = body === null ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const sending = request({
        hostname,
        port,
        agent,
        method,
        path,
        headers: { ...length, ...headers },
        timeout: patienceMs,
      });
      sending.on("timeout", () => sending.destroy(new Error(`no answer in ${patienceMs} ms`)));
      sending.on("error", reject);
      sending.on("response", (response) => {
        const chunks: Buffer[] = [];
        const finish = () => resolve(readAnswer(response.statusCode ?? 0, response.headers, chunks));
        response.on("data", (chunk) => void chunks.push(chunk));
        response.on("end", finish).on("error", reject);
        // A stream of events never ends by itself.
        if (response.headers["content-type"]?.startsWith("text/event-stream") && method === "GET") {
          response.off("error", reject).on("error", () => {});
          sending.off("error", reject).on("error", () => {});
          finish();
          response.destroy();
        }
      });
      sending.end(body ?? undefined);
    });
  }

  return { send, close: () => agent.destroy() };
}

function readAnswer(status: number, headers: IncomingHttpHeaders, chunks: Buffer[]): FuzzAnswer {
  const text = Buffer.concat(chunks).toString();
  const isJson = headers["content-type"]?.startsWith("application/json") === true && text !== "";
  return { status, headers, text, json: isJson ? JSON.parse(text) : undefined };
}
