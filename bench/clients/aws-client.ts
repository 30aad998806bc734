import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { S3Client } from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { runUploadJob } from "./upload-job.ts";

await runUploadJob(({ endpoint = "", region = "", accessKeyId = "", secretAccessKey = "", bucket }) => {
  const client = new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
    // Servers that are not AWS reject the checksums that newer SDKs add unasked.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  return (path) =>
    new Upload({
      client,
      params: { Bucket: bucket, Key: basename(path), Body: createReadStream(path) },
    }).done();
});
