export type { BucketExamination } from "./access-probe.ts";
export type { ObjectImport } from "./import-objects.ts";
export { createS3Store, type S3Store, type S3StoreOptions } from "./s3-store.ts";
