export { type SdkErrorCode, UpstowError, type UpstowErrorCode } from "../errors.ts";
export type { FileRouter, RouteInput, RouteResult } from "../handler/file-router.ts";
export type { ReadAnswer } from "../handler/protocol.ts";
export type { FileType } from "../handler/rules.ts";
export type { FileHandle, ResumeStore, SavedUpload } from "./resume-store.ts";
export {
  type ImportUrlOptions,
  UploadError,
  type UploadedFile,
  type Uploader,
  type UploaderOptions,
  type UploaderSnapshot,
  type UploadState,
  type UploadStatus,
  type UploadTask,
  type WaitOptions,
} from "./types.ts";
export { createUploader } from "./uploader.ts";
