import { createHash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { FileObject } from "@upstow/sdk";
import { OperatorError } from "./command.ts";

/** A name of its own for each name, and never too long for the disk. */
const digestOf = (name: string) => createHash("sha256").update(name).digest("hex").slice(0, 16);

/** Answers whether the bytes could be compared by their digest. */
export async function downloadFile(
  file: Pick<FileObject, "url" | "size" | "sha256">,
  path: string,
  onProgress: (receivedBytes: number) => void,
): Promise<boolean> {
  // What an interrupted download left is written over; nobody else has files of such a name.
  const draft = join(dirname(path), `.${digestOf(basename(path))}.upstow-part`);
  const output = await open(draft, "w").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new OperatorError("NOT_FOUND", `There is no folder ${dirname(path)}.`);
  });
  try {
    const digest = createHash("sha256");
    let receivedBytes = 0;
    for await (const chunk of readWhole(file.url)) {
      digest.update(chunk);
      await output.writeFile(chunk);
      receivedBytes += chunk.byteLength;
      onProgress(receivedBytes);
    }
    const isSame = file.sha256 === null || digest.digest("hex") === file.sha256;
    if (receivedBytes !== file.size || !isSame) {
      throw new OperatorError(
        "CHECKSUM_MISMATCH",
        `The bytes of ${file.url} are not the ones that were stored. Try again.`,
      );
    }
    await output.sync();
    await output.close();
    await rename(draft, path);
    return file.sha256 !== null;
  } catch (error) {
    await output.close().catch(() => {});
    await rm(draft, { force: true });
    throw error;
  }
}

async function* readWhole(url: string): AsyncGenerator<Uint8Array> {
  const body = await readFrom(url);
  try {
    yield* body;
  } catch {
    throw new OperatorError("NETWORK_ERROR", `The connection to ${url} broke. Try again.`);
  }
}

export async function readFrom(url: string): Promise<AsyncIterable<Uint8Array>> {
  const response = await fetch(url).catch((cause) => {
    throw new OperatorError(
      "NETWORK_ERROR",
      `No answer from ${url}: ${cause.cause?.message ?? cause.message}.`,
    );
  });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new OperatorError("NOT_FOUND", `${url} answered ${response.status}.`);
  }
  return response.body;
}
