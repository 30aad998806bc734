import { randomBytes } from "node:crypto";
import type { Scenario, Target } from "../harness/scenario.ts";
import { expectStatus } from "./expect-status.ts";

interface TusTarget extends Target {
  path: string;
  sizeBytes: number;
}

/** A whole upload by the tus protocol: creation, then one PATCH with all bytes. */
const tusUpload: Scenario<TusTarget> = ({ path, sizeBytes }, connection) => {
  const bytes = randomBytes(sizeBytes);
  const common = "Host: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\n";
  const create = `POST ${path} HTTP/1.1\r\n${common}Upload-Length: ${sizeBytes}\r\nUpload-Metadata: filename cGhvdG8uYmlu\r\nContent-Length: 0\r\n\r\n`;
  return async () => {
    const created = await connection.send(create);
    expectStatus(created, 201);
    const place = /\r\nlocation: *(?:https?:)?\/\/[^/]+(\S+)/i.exec(created.head)?.[1];
    const patch = `PATCH ${place} HTTP/1.1\r\n${common}Upload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: ${sizeBytes}\r\n\r\n`;
    expectStatus(await connection.send(patch, bytes), 204);
  };
};

export default tusUpload;
