export { createUpstow, type Upstow } from "./api/client.ts";
export type { EventsOptions, ReceivedEvent } from "./api/events.ts";
export type { List } from "./api/list.ts";
export type { PostOptions, RequestOptions } from "./api/request.ts";
export type { UpstowOptions } from "./api/settings.ts";
export { type SdkErrorCode, UpstowError, type UpstowErrorCode } from "./errors.ts";
export type { UploadSource } from "./upload/byte-source.ts";
export type { UploadOptions } from "./upload/upload.ts";
export type * from "./wire/index.ts";
