import { it, type TestContext } from "node:test";
import { createBucketEnv, type S3Server } from "../../../../test/support/s3-server.ts";
import { startSwift } from "../../../../test/support/swift.ts";

/**
 * Where apps of the tests keep their files: on the disk, or, with UPSTOW_TEST_STORAGE=s3, in a bucket beside
 * PostgreSQL. `on-s3*.test.ts` run what concerns files that way, `npm run test:s3` runs everything.
 */
export const onDisk = process.env["UPSTOW_TEST_STORAGE"] !== "s3";

/**
 * Tests of what only the service's own disk does, and why a bucket does not. With files in a bucket they are no tests at
 * all: neither passed nor skipped.
 */
export function onlyOnDisk(reason: string): (name: string, work: (t: TestContext) => Promise<void>) => void {
  if (onDisk) return (name, work) => void it(name, work);
  return (name) => void process.stdout.write(`Only on the disk, because ${reason}: ${name}\n`);
}

let server: Promise<S3Server> | undefined;
const envs = new Map<string, Record<string, string>>();

/** A bucket for each database: instances that share the one share the other. The server ends with this process. */
export async function bucketEnv(place: string): Promise<Record<string, string>> {
  // The server of a whole run takes no browsers; where there is none, files with pages run as well.
  server ??= startSwift({ takesBrowsers: process.env["UPSTOW_TEST_SWIFT_URL"] === undefined });
  const env = envs.get(place) ?? (await createBucketEnv(await server));
  envs.set(place, env);
  return env;
}
