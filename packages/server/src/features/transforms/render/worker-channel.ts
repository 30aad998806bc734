import type { RenderReply, WrittenFile } from "./render-job.ts";

/** Not stdin and stdout: a native library that prints would garble the frames. */
export const workerChannelFd = 3;

/** Tells a worker to run only while a processor has nothing else to do. */
export const giveWayFlag = "--give-way";

/**
 * What a worker says; it is sent `RenderTask`s, one at a time.
 * - `done`: the rendered bytes travel beside it, unless they were written to a file.
 * - `unread`: the source's file is gone or is not what it was said to be.
 */
export type WorkerMessage =
  | { kind: "ready" }
  | { kind: "done"; reply: RenderReply; written: WrittenFile | null; rssBytes: number }
  | { kind: "unread"; rssBytes: number };
