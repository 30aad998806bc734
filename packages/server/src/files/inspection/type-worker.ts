import { parentPort } from "node:worker_threads";
import { detectType } from "./detect-type.ts";
import { isNameOf, judgeType } from "./judge-type.ts";
import type { TypeOrder, TypeReply } from "./type-detector.ts";

// The bytes are hostile: if no reply comes, the caller ends this thread.
parentPort?.on("message", async ({ id, head, directory, sizeBytes, declared, allowedTypes }: TypeOrder) => {
  const sample = { head: toBuffer(head), directory: directory && toBuffer(directory), sizeBytes };
  const detected = await detectType(sample, (type) => isNameOf(declared, type)).catch(() => null);
  const reply: TypeReply = { id, detected, problem: judgeType(declared, detected, allowedTypes) };
  parentPort?.postMessage(reply);
});

const toBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
