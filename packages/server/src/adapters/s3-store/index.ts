export type { BucketExamination } from "./examine-bucket.ts";
export { createS3Store, type S3Store, type S3StoreOptions } from "./s3-store.ts";
