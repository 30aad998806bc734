import { randomBytes } from "node:crypto";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";

/** A running S3 server and an account on it. */
export interface S3Server {
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  stop(): Promise<void>;
}

/** The AWS SDK on a test server: what others' code makes of the same bucket. */
export function createSdkClient(server: Omit<S3Server, "stop">): S3Client {
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  return new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
    // Servers that are not AWS reject the checksums that newer SDKs add unasked.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}

/** The service's variables for a new bucket. A proxy is for the service alone; clients go past it. */
export async function createBucketEnv(
  server: S3Server,
  proxy: { url: string } | null = null,
): Promise<Record<string, string> & { UPSTOW_S3_BUCKET: string }> {
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  return {
    UPSTOW_S3_BUCKET: await createTestBucket(server),
    UPSTOW_S3_ENDPOINT: proxy?.url ?? endpoint,
    ...(proxy === null ? {} : { UPSTOW_S3_PUBLIC_ENDPOINT: endpoint }),
    UPSTOW_S3_REGION: region,
    UPSTOW_S3_ACCESS_KEY_ID: accessKeyId,
    UPSTOW_S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
}

export async function createTestBucket(server: S3Server): Promise<string> {
  const bucket = `test-${randomBytes(6).toString("hex")}`;
  const client = createSdkClient(server);
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  return bucket;
}
