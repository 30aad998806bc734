import { globSync } from "node:fs";
import { basename } from "node:path";

/** Test files of the service's API that can say nothing of PostgreSQL and a bucket, and why. All others run there. */
const withoutBucket = new Map([
  ["config.test.ts", "reads variables"],
  ["database-sqlite.test.ts", "is about the embedded database"],
  ["earlier-version.test.ts", "continues with files of the disk"],
  ["fit-pictures.slow.test.ts", "renders pictures, without the service"],
  ["integrity.test.ts", "tests both stores in any case"],
  ["on-s3.test.ts", "is the part of this that runs with all tests"],
  ["on-s3.slow.test.ts", "so is this, with the slow ones"],
  ["on-s3-delivery.slow.test.ts", "and this"],
  ["s3-storage.test.ts", "keeps its files in a bucket in any case"],
  ["two-instances.test.ts", "keeps its files in a bucket in any case"],
  ["transforms-killed.slow.test.ts", "breaks files on the disk"],
]);

/** The service's API on OpenStack Swift, and the contract of the store on Ceph's gateway. */
export function findFilesOnS3() {
  const ofApi = globSync("packages/server/test/*.test.ts").filter(
    (file) => !withoutBucket.has(basename(file)),
  );
  return [...ofApi, "packages/server/test/s3-store.radosgw.ts"];
}
