import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import { Upload } from "tus-js-client";
import { runUploadJob } from "./upload-job.ts";

await runUploadJob(({ endpoint = "" }) => (path) => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  new Upload(createReadStream(path), {
    endpoint,
    uploadSize: statSync(path).size,
    chunkSize: 5 * 1024 * 1024,
    metadata: { filename: basename(path) },
    onSuccess: () => resolve(),
    onError: reject,
  }).start();
  return promise;
});
