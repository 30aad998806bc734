import type { RenderReply } from "./render-job.ts";

/** Not stdin and stdout: a native library that prints would garble the frames. */
export const workerChannelFd = 3;

/** What a worker says; the rendered bytes travel beside `done`. It is sent `RenderOrder`s, one at a time. */
export type WorkerMessage = { kind: "ready" } | { kind: "done"; reply: RenderReply; rssBytes: number };
