import { Socket } from "node:net";
import os from "node:os";
import {
  createFrameReader,
  createReusedMemory,
  type WorkerMessage,
  workerChannelFd,
  writeFrame,
} from "./frame-channel.ts";
import { confineDecoders, type ImageResult, renderImage } from "./render-image.ts";
import type { RenderOrder } from "./render-job.ts";
import { findSourceKind } from "./sniff-image.ts";

// First: what is loaded after it is loaded with little weight already.

// The process that decodes. It has an empty environment and one channel, by which sources come and images go: it opens no
// file but its own code. It does one job after another, and may be killed at any moment.

const keptSourceBytes = 16 * 1024 * 1024;

confineDecoders();

const getMemory = createReusedMemory(keptSourceBytes);
const reader = createFrameReader(({ header, bytes }) => void work(header as RenderOrder, bytes), getMemory);
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

async function work(order: RenderOrder, source: Buffer): Promise<void> {
  const result: ImageResult =
    findSourceKind(source) === null
      ? { ok: false, problem: "unsupported" }
      : await renderImage(source, order);
  if (!result.ok) return send({ kind: "done", reply: result });
  send({ kind: "done", reply: { ok: true, image: result.image } }, result.bytes);
}

// When the processor runs short, rendering gives way and the service lives on. What else there is to give way by, the
// shell has set that started this process.

try {
  os.setPriority(Math.min(os.constants.priority.PRIORITY_LOW, os.getPriority() + 10));
} catch {
  // Containers may forbid what is only a courtesy.
}
// A terminal or service manager signals the whole group; the service decides when workers end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
