export type * from "./errors.ts";
export type * from "./files.ts";
export type * from "./links.ts";
export type * from "./projects.ts";
export type * from "./transforms.ts";
export type * from "./uploads.ts";
export type * from "./usage.ts";
export type * from "./webhooks.ts";
