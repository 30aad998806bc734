import { createBucketEnv, type S3Server } from "../../../../test/support/s3-server.ts";
import { startSwift } from "../../../../test/support/swift.ts";

/**
 * Where apps of the tests keep their files: on the disk, or, with UPSTOW_TEST_STORAGE=s3, in a bucket beside
 * PostgreSQL. `on-s3.test.ts` runs what concerns files that way; by hand it can be done with any file.
 */
export const onDisk = process.env["UPSTOW_TEST_STORAGE"] !== "s3";

let server: Promise<S3Server> | undefined;
const envs = new Map<string, Record<string, string>>();

/** A bucket for each database: instances that share the one share the other. The server ends with this process. */
export async function bucketEnv(place: string): Promise<Record<string, string>> {
  server ??= startSwift();
  const env = envs.get(place) ?? (await createBucketEnv(await server));
  envs.set(place, env);
  return env;
}
