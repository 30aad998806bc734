export type { Damage } from "./damage.ts";
export { type DiskStore, type DiskStoreOptions, openDiskStore } from "./disk-store.ts";
export { DataDirInUse, lockDataDir } from "./identity.ts";
export { deferContinue } from "./refusals.ts";
export { presignedUploadRoutes, type UploadReceiver, uploadPath } from "./upload-receiver.ts";
