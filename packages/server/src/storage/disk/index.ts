export type { Damage } from "./damage.ts";
export { DataDirInUse, lockDataDir } from "./data-dir-lock.ts";
export { type DiskStore, type DiskStoreOptions, openDiskStore } from "./disk-store.ts";
export { deferContinue } from "./expect-continue.ts";
export { presignedUploadRoutes } from "./routes.ts";
export { type UploadReceiver, uploadPath } from "./upload-receiver.ts";
