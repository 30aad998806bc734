import { randomBytes } from "node:crypto";
import type { Scenario, Target } from "../harness/scenario.ts";
import { expectStatus } from "./expect-status.ts";
import { jsonPost } from "./json-post.ts";

interface BatchTarget extends Target {
  key: string;
  sizeBytes: number;
  files: number;
}

/** Many whole uploads: one call asks for all URLs, a PUT for each file, one call confirms them. */
const uploadBatch: Scenario<BatchTarget> = ({ key, sizeBytes, files }, connection, client) => {
  const bytes = randomBytes(sizeBytes);
  let count = 0;
  const describeFile = () =>
    `{"fileName":"photo-${client}-${count++}.bin","fileSize":${sizeBytes},"contentType":"application/octet-stream","routeSlug":"default"}`;
  return async () => {
    const wanted = `{"files":[${Array.from({ length: files }, describeFile).join(",")}]}`;
    const requested = await connection.send(jsonPost("/api/v1/upload/batch/request", key, wanted));
    expectStatus(requested, 200);
    const { uploads } = JSON.parse(requested.body.toString()) as {
      uploads: { fileId: string; uploadUrl: string }[];
    };
    for (const { uploadUrl } of uploads) {
      const path = uploadUrl.slice(uploadUrl.indexOf("/", "http://".length));
      const put = `PUT ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\nContent-Length: ${sizeBytes}\r\n\r\n`;
      expectStatus(await connection.send(put, bytes), 200);
    }
    const confirmed = `{"files":[${uploads.map(({ fileId }) => `{"fileId":"${fileId}"}`).join(",")}]}`;
    expectStatus(await connection.send(jsonPost("/api/v1/upload/batch/complete", key, confirmed)), 200);
  };
};

export default uploadBatch;
