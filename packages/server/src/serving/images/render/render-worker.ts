import { Socket } from "node:net";
import os from "node:os";
import { findFacts } from "./facts/find-facts.ts";
import {
  createFrameReader,
  createReusedMemory,
  type WorkerMessage,
  workerChannelFd,
  writeFrame,
} from "./frame-channel.ts";
import { confineDecoders, renderImage } from "./render-image.ts";
import type { WorkerOrder } from "./render-job.ts";
import { findSourceKind } from "./sniff-image.ts";

// First, so that everything after it already loads at low priority.

// The process that decodes. It has an empty environment and one channel for sources and images; it opens no file but its
// own code. It runs one job after another, and may be killed at any time.

const keptSourceBytes = 16 * 1024 * 1024;

confineDecoders();

const getMemory = createReusedMemory(keptSourceBytes);
const reader = createFrameReader(({ header, bytes }) => void work(header as WorkerOrder, bytes), getMemory);
const channel = new Socket({
  fd: workerChannelFd,
  readable: true,
  writable: true,
  // The kernel writes directly to the source's buffer.
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

// Once the service is gone no one needs the image, and an orderly exit would wait for the encoder.
channel.on("close", () => process.kill(process.pid, "SIGKILL"));
channel.on("error", () => channel.destroy());
send({ kind: "ready" });

async function work(order: WorkerOrder, source: Buffer): Promise<void> {
  if (findSourceKind(source) === null)
    return send({ kind: "done", reply: { ok: false, problem: "unsupported" } });
  if ("facts" in order)
    return send({ kind: "done", reply: await findFacts(source, order.facts.keepsLocation) });
  const result = await renderImage(source, order);
  if (!result.ok) return send({ kind: "done", reply: result });
  send({ kind: "done", reply: { ok: true, image: result.image } }, result.bytes);
}

// When CPU is scarce, rendering yields to the service. The shell that started this process has set the other
// priorities.

try {
  os.setPriority(Math.min(os.constants.priority.PRIORITY_LOW, os.getPriority() + 10));
} catch {
  // Optional, and containers may forbid it.
}
// Terminals and service managers signal the whole group, but the service decides when workers end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
