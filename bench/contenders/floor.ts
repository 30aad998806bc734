import { type NodeServer, startNodeServer } from "./node-server.ts";

/** What the bare server says to everything: one answer that the server under test gave. */
export interface RecordedAnswer {
  status: number;
  headers: Record<string, string>;
  bodyBase64: string;
}

// node:http adds these by itself.
const ownHeaders = ["date", "connection", "keep-alive"];

export async function recordAnswer(url: string, init: RequestInit): Promise<RecordedAnswer> {
  const response = await fetch(url, init);
  const headers = [...response.headers].filter(([name]) => !ownHeaders.includes(name));
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    bodyBase64: Buffer.from(await response.arrayBuffer()).toString("base64"),
  };
}

/** The least that Node can do for the same answer: no routing, no key, no database. */
export const startFloor = (folder: string, answer: RecordedAnswer): Promise<NodeServer> =>
  startNodeServer(folder, "floor-server", JSON.stringify(answer));
