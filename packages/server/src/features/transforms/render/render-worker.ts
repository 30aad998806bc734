// First: what is loaded after it is loaded with little weight already.
import "./yield-to-service.ts";
import { Socket } from "node:net";
import { createFrameReader, createReusedMemory, writeFrame } from "./frame-channel.ts";
import { readSourceFile, writeDraft } from "./local-files.ts";
import { confineDecoders, type ImageResult, renderImage } from "./render-image.ts";
import type { RenderTask } from "./render-job.ts";
import { findSourceKind } from "./sniff-image.ts";
import { type WorkerMessage, workerChannelFd } from "./worker-channel.ts";

// The process that decodes. It is started with an empty environment and one channel, does one job after
// another, and may be killed at any moment.

const keptSourceBytes = 16 * 1024 * 1024;

confineDecoders();

const getMemory = createReusedMemory(keptSourceBytes);
const reader = createFrameReader(({ header, bytes }) => void work(header as RenderTask, bytes), getMemory);
const channel = new Socket({
  fd: workerChannelFd,
  readable: true,
  writable: true,
  // The kernel writes straight to where the source belongs.
  onread: {
    buffer: () => reader.nextTarget(),
    callback(countBytes) {
      reader.filled(countBytes);
      return true;
    },
  },
});
const send = (message: WorkerMessage, bytes: Uint8Array = new Uint8Array()) =>
  writeFrame(channel, message, bytes);

// Nobody waits for the image once the service is gone, and an orderly exit would wait for the encoder.
channel.on("close", () => process.kill(process.pid, "SIGKILL"));
channel.on("error", () => channel.destroy());
send({ kind: "ready" });

async function work({ order, source, draft }: RenderTask, sent: Buffer): Promise<void> {
  const bytes = source === null ? sent : readSourceFile(source, getMemory);
  const rss = () => ({ rssBytes: process.memoryUsage.rss() });
  if (bytes === null) return send({ kind: "unread", ...rss() });
  const result: ImageResult =
    findSourceKind(bytes) === null ? { ok: false, problem: "unsupported" } : await renderImage(bytes, order);
  if (!result.ok) return send({ kind: "done", reply: result, written: null, ...rss() });
  const written = draft === null ? null : writeDraft(draft, result.bytes);
  send(
    { kind: "done", reply: { ok: true, image: result.image }, written, ...rss() },
    written === null ? result.bytes : undefined,
  );
}
