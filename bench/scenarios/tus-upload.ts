import { randomBytes } from "node:crypto";
import type { Scenario, Target } from "../harness/scenario.ts";
import { expectStatus } from "./expect-status.ts";

interface TusTarget extends Target {
  path: string;
  sizeBytes: number;
  /** Of a server that asks for one. */
  key?: string;
  /** Where files are deleted again, so that large ones do not fill the disk: our API's, or by the protocol itself. */
  removes?: "api" | "tus";
}

const pieceBytes = 1024 * 1024;

/** A whole upload by the tus protocol: creation, then one PATCH with all bytes. */
const tusUpload: Scenario<TusTarget> = ({ path, sizeBytes, key, removes }, connection) => {
  const piece = randomBytes(Math.min(pieceBytes, sizeBytes));
  const access = key === undefined ? "" : `Authorization: Bearer ${key}\r\n`;
  const common = `Host: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\n${access}`;
  const create = `POST ${path} HTTP/1.1\r\n${common}Upload-Length: ${sizeBytes}\r\nUpload-Metadata: filename cGhvdG8uYmlu\r\nContent-Length: 0\r\n\r\n`;
  return async () => {
    const created = await connection.send(create);
    expectStatus(created, 201);
    const place = /\r\nlocation: *(?:(?:https?:)?\/\/[^/]+)?(\S+)/i.exec(created.head)?.[1];
    const patch = `PATCH ${place} HTTP/1.1\r\n${common}Upload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: ${sizeBytes}\r\n\r\n`;
    const stored = await connection.send(patch, piece, sizeBytes / piece.length);
    expectStatus(stored, 204);
    if (removes === undefined) return;
    const fileKey = /\r\nupstow-file-key: *(\S+)/i.exec(stored.head)?.[1];
    const stale = removes === "api" ? `/api/v1/files/${fileKey}` : place;
    const removed = await connection.send(`DELETE ${stale} HTTP/1.1\r\n${common}\r\n`);
    if (removed.status >= 300) throw new Error(`${removed.head}\n\n${removed.body}`);
  };
};

export default tusUpload;
