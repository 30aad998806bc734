import { randomBytes } from "node:crypto";
import { call } from "../contenders/stored-files.ts";
import type { Upstow } from "../contenders/upstow.ts";
import { openConnection } from "../harness/connection.ts";

interface Started {
  fileId: string;
  uploadId: string;
  partSize: number;
  parts: { partNumber: number; uploadUrl: string }[];
}

const clients = 4;
const sampleEveryParts = 16;

/** One multipart upload by a few clients; calls `sample` now and then while parts arrive. */
export async function uploadInParts(upstow: Upstow, sizeBytes: number, sample: () => number) {
  const { fileId, uploadId, partSize, parts } = await call<Started>(upstow, "/api/v1/upload/multipart/init", {
    fileName: "large.bin",
    fileSize: sizeBytes,
    contentType: "application/octet-stream",
    routeSlug: "default",
  });
  const bytes = randomBytes(partSize);
  const etags: string[] = [];
  const rssMib: number[] = [];
  let next = 0;
  const startMs = performance.now();
  const sendParts = async () => {
    const connection = await openConnection(upstow.port);
    for (let part = parts[next++]; part !== undefined; part = parts[next++]) {
      const length = Math.min(partSize, sizeBytes - (part.partNumber - 1) * partSize);
      const head = `PUT ${new URL(part.uploadUrl).pathname} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${length}\r\n\r\n`;
      const answer = await connection.send(head, bytes.subarray(0, length));
      const etag = /\r\netag: *(\S+)/i.exec(answer.head)?.[1];
      if (answer.status !== 200 || etag === undefined) throw new Error(`${answer.head}\n\n${answer.body}`);
      etags[part.partNumber - 1] = etag;
      if (part.partNumber % sampleEveryParts === 0) rssMib.push(sample());
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: clients }, sendParts));
  const sentMs = performance.now();
  await call(upstow, "/api/v1/upload/multipart/complete", {
    fileId,
    uploadId,
    parts: etags.map((etag, i) => ({ partNumber: i + 1, etag })),
  });
  return {
    rssMib,
    completeSec: (performance.now() - sentMs) / 1000,
    mibPerSec: sizeBytes / 1024 / 1024 / ((sentMs - startMs) / 1000),
  };
}
