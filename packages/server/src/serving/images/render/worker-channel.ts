import type { RenderedImage, RenderProblem, RenderReply } from "./render-job.ts";

/** Not stdin and stdout: a native library that prints would garble the frames. */
export const workerChannelFd = 3;

/** What a worker says; it is sent `RenderOrder`s, one at a time, each with its source. Beside `done` travels the image. */
export type WorkerMessage = { kind: "ready" } | { kind: "done"; reply: RenderReply };

const formats: Record<RenderedImage["format"], true> = { avif: true, webp: true, jpeg: true, png: true };
const problems: Record<RenderProblem, true> = {
  unsupported: true,
  unprocessable: true,
  "too-large": true,
  "too-many-bytes": true,
  "result-too-large": true,
};

/** Null for anything else: a worker that was taken over could otherwise have its bytes served as a type that runs. */
export function readWorkerMessage(header: unknown): WorkerMessage | null {
  const { kind, reply } = asRecord(header);
  if (kind === "ready") return { kind };
  if (kind !== "done") return null;
  const { ok, image, problem } = asRecord(reply);
  if (ok === false) return isKey(problems, problem) ? { kind, reply: { ok, problem } } : null;
  const { format, width, height } = asRecord(image);
  if (ok !== true || !isKey(formats, format) || !isSide(width) || !isSide(height)) return null;
  return { kind, reply: { ok, image: { format, width, height } } };
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isKey<K extends string>(known: Record<K, true>, value: unknown): value is K {
  return typeof value === "string" && Object.hasOwn(known, value);
}

function isSide(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
