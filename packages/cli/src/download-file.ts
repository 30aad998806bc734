import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { FileObject } from "@upstow/sdk";
import { OperatorError } from "./command.ts";

/** Unique per name, and short enough for any file system. */
const digestOf = (name: string) => createHash("sha256").update(name).digest("hex").slice(0, 16);

interface DownloadOptions {
  /** Overwrite an existing file. */
  replace: boolean;
  onProgress?: (receivedBytes: number) => void;
}

/** Returns whether the bytes were verified against a digest. */
export async function downloadFile(
  file: Pick<FileObject, "url" | "size" | "sha256">,
  path: string,
  { replace, onProgress = () => {} }: DownloadOptions,
): Promise<boolean> {
  if (!replace && (await lstat(path).catch(() => null)) !== null) throw alreadyThere(path);
  const draft = join(dirname(path), `.${digestOf(basename(path))}.upstow-part`);
  // The remains of an interrupted download, or a link that someone else with access to the folder has put there.
  await rm(draft, { force: true });
  const output = await open(draft, "wx").catch((error: NodeJS.ErrnoException) => {
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
        `The download of ${file.url} does not match the stored checksum. Try again.`,
      );
    }
    await output.sync();
    await output.close();
    if (!replace) await claimName(path);
    await rename(draft, path);
    return file.sha256 !== null;
  } catch (error) {
    await output.close().catch(() => {});
    await rm(draft, { force: true });
    throw error;
  }
}

/** The file may have been created during the download. Links are not followed. */
async function claimName(path: string): Promise<void> {
  const claimed = await open(path, "wx").catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? alreadyThere(path) : error;
  });
  await claimed.close();
}

const alreadyThere = (path: string) =>
  new OperatorError(
    "ALREADY_EXISTS",
    `${path} already exists. Choose another name with --output, or replace it with --force.`,
  );

/** Whether an earlier download already saved exactly this file. */
export async function isDownloaded(
  { size, sha256 }: Pick<FileObject, "size" | "sha256">,
  path: string,
): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (sha256 === null || found?.isFile() !== true || found.size !== size) return false;
  const digest = createHash("sha256");
  await pipeline(createReadStream(path), digest);
  return digest.digest("hex") === sha256;
}

async function* readWhole(url: string): AsyncGenerator<Uint8Array> {
  const body = await readFrom(url);
  try {
    yield* body;
  } catch {
    throw new OperatorError("NETWORK_ERROR", `The connection to ${url} was interrupted. Try again.`);
  }
}

export async function readFrom(url: string): Promise<AsyncIterable<Uint8Array>> {
  const response = await fetch(url).catch((cause) => {
    throw new OperatorError(
      "NETWORK_ERROR",
      `No response from ${url}: ${cause.cause?.message ?? cause.message}.`,
    );
  });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new OperatorError("NOT_FOUND", `${url} returned ${response.status}.`);
  }
  return response.body;
}
