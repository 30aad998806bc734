import { randomBytes } from "node:crypto";
import type { Scenario, Target } from "../harness/scenario.ts";
import { expectStatus } from "./expect-status.ts";
import { jsonPost } from "./json-post.ts";

interface UploadTarget extends Target {
  key: string;
  sizeBytes: number;
  routeSlug?: string;
}

/** A whole upload: ask for a URL, PUT the bytes, confirm. */
const uploadFile: Scenario<UploadTarget> = (
  { key, sizeBytes, routeSlug = "default" },
  connection,
  client,
) => {
  const bytes = randomBytes(sizeBytes);
  let count = 0;
  return async () => {
    const wanted = `{"fileName":"photo-${client}-${count++}.bin","fileSize":${sizeBytes},"contentType":"application/octet-stream","routeSlug":"${routeSlug}"}`;
    const requested = await connection.send(jsonPost("/api/v1/upload/request", key, wanted));
    expectStatus(requested, 200);
    const { fileId, uploadUrl } = JSON.parse(requested.body.toString()) as {
      fileId: string;
      uploadUrl: string;
    };
    const path = uploadUrl.slice(uploadUrl.indexOf("/", "http://".length));
    const put = `PUT ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\nContent-Length: ${sizeBytes}\r\n\r\n`;
    expectStatus(await connection.send(put, bytes), 200);
    expectStatus(
      await connection.send(jsonPost("/api/v1/upload/complete", key, `{"fileId":"${fileId}"}`)),
      200,
    );
  };
};

export default uploadFile;
