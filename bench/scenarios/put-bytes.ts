import { randomBytes } from "node:crypto";
import type { Scenario, Target } from "../harness/scenario.ts";

interface PutTarget extends Target {
  /** One for each client, written again and again. */
  paths: string[];
  sizeBytes: number;
}

const pieceBytes = 1024 * 1024;

const putBytes: Scenario<PutTarget> = ({ paths, sizeBytes }, connection, client) => {
  const head = `PUT ${paths[client]} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\nContent-Length: ${sizeBytes}\r\n\r\n`;
  const piece = randomBytes(Math.min(pieceBytes, sizeBytes));
  return async () => {
    const answer = await connection.send(head, piece, sizeBytes / piece.length);
    if (answer.status >= 300) throw new Error(`${answer.head}\n\n${answer.body}`);
  };
};

export default putBytes;
