import { request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

export interface Creation {
  url: string;
  headers: Record<string, string>;
  /** Sent with the creation; written piece by piece. */
  pieces: AsyncIterable<Buffer>;
  /** Called with the address of the upload, which may come while the body is still on its way (104). */
  onLocation(location: string): void;
}

/** Creates an upload with a request that carries its first bytes. `fetch` shows no 104, so this does not use it. */
export async function createWithBytes({ url, headers, pieces, onLocation }: Creation): Promise<Response> {
  const { promise: responded, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = httpRequest(url, { method: "POST", headers, agent: false });
  request.on("information", ({ statusCode, headers: { location } }) => {
    if (statusCode === 104 && location !== undefined) onLocation(location);
  });
  request.on("response", resolve);
  request.on("error", reject);
  void send(pieces).catch(reject);

  async function send(body: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of body) request.write(piece);
    request.end();
  }

  const response = await responded;
  const { location } = response.headers;
  if (location !== undefined) onLocation(location);
  const pairs = Object.entries(response.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return new Response(await text(response), { status: response.statusCode ?? 0, headers: pairs });
}
