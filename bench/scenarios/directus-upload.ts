import { randomBytes } from "node:crypto";
import type { Scenario, Target } from "../harness/scenario.ts";
import { expectStatus } from "./expect-status.ts";

interface DirectusTarget extends Target {
  key: string;
  sizeBytes: number;
}

/** A whole upload: one form with the file in it. */
const directusUpload: Scenario<DirectusTarget> = ({ key, sizeBytes }, connection) => {
  const boundary = "----bench";
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="photo.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(part),
    randomBytes(sizeBytes),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  const head = `POST /files HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return async () => expectStatus(await connection.send(head, body), 200);
};

export default directusUpload;
