import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  body: any;
}

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname.replace(/^\[(.*)\]$/, "$1"));
  await once(socket, "connect");
  return socket;
}

/** Sends bytes that no HTTP client would send, and reads the first answer. */
export async function sendRaw(url: string, bytes: string | Buffer): Promise<RawAnswer> {
  const socket = await openSocket(url);
  try {
    socket.write(bytes);
    return await readAnswer(socket);
  } finally {
    socket.destroy();
  }
}

export async function readAnswer(socket: Socket): Promise<RawAnswer> {
  let text = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk.toString("latin1");
    const answer = findAnswer(text);
    if (answer !== null) return answer;
  }
  throw new Error(`the connection ended without an answer: ${JSON.stringify(text)}`);
}

function findAnswer(text: string): RawAnswer | null {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(end + 4);
  if (body.length < Number(headers.get("content-length") ?? 0)) return null;
  const isJson = headers.get("content-type")?.startsWith("application/json") && body !== "";
  return { status: Number(statusLine.split(" ")[1]), headers, body: isJson ? JSON.parse(body) : body };
}

/** A request head as text; `lines` are further headers. */
export function requestHead(method: string, path: string, lines: string[] = []): string {
  return `${[`${method} ${path} HTTP/1.1`, "Host: localhost", ...lines].join("\r\n")}\r\n\r\n`;
}
