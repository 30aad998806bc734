import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { UploadOptions } from "@upstow/sdk";
import { configFolder } from "../config-folder.ts";
import type { Credentials } from "../credentials.ts";
import type { LocalFile } from "./collect-files.ts";

export interface MultipartRef {
  fileId: string;
  uploadId: string;
}

// The service discards an upload seven days after its last part.
const keepMs = 7 * 24 * 60 * 60 * 1000;

/**
 * Remembers multipart uploads by the file's current state, so that the next run resumes them. Route and metadata are
 * part of the key, because the service keeps the ones the upload started with.
 */
export function openUnfinishedUploads(
  env: NodeJS.ProcessEnv,
  connection: Credentials,
  { routeSlug, metadata }: Pick<UploadOptions, "routeSlug" | "metadata">,
) {
  const folder = join(configFolder(env), "uploads");
  const pathOf = ({ path, name, sizeBytes, modifiedMs }: LocalFile) => {
    const facts = [connection.url, connection.apiKey, routeSlug, metadata, path, name, sizeBytes, modifiedMs];
    return join(folder, `${createHash("sha256").update(JSON.stringify(facts)).digest("hex")}.json`);
  };
  removeOld(folder);
  return {
    find(file: LocalFile): MultipartRef | undefined {
      try {
        return JSON.parse(readFileSync(pathOf(file), "utf8"));
      } catch {
        return undefined;
      }
    },
    /** Synchronous, so the ids survive however this process ends. */
    save(file: LocalFile, { fileId, uploadId }: MultipartRef): void {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(pathOf(file), JSON.stringify({ fileId, uploadId }), { mode: 0o600 });
    },
    remove(file: LocalFile): void {
      rmSync(pathOf(file), { force: true });
    },
  };
}

export type UnfinishedUploads = ReturnType<typeof openUnfinishedUploads>;

/** Removes expired files from a folder in which runs are remembered. */
export function removeOld(folder: string): void {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return;
  }
  for (const name of names) {
    const path = join(folder, name);
    if (Date.now() - statSync(path).mtimeMs > keepMs) rmSync(path, { force: true });
  }
}
