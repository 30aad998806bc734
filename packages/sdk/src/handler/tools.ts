import type { createFiles } from "../api/files.ts";
import type { Uploads } from "../api/uploads.ts";
import { UpstowError } from "../errors.ts";
import type { Metadata } from "../wire/files.ts";
import type { FileRoute, FileRouter } from "./file-router.ts";
import type { FileInfo } from "./rules.ts";
import type { Seal } from "./sealed-token.ts";

export interface Tools<Context> {
  router: FileRouter<Context>;
  uploads: Uploads;
  files: ReturnType<typeof createFiles>;
  seal: Seal;
  report(error: unknown): void;
}

export interface Handling<Context> {
  request: Request;
  context: Context;
}

/** Issued by `begin`: lets one user start one file on one route, once. */
export interface Ticket {
  id: string;
  route: string;
  file: FileInfo;
  metadata: Metadata | null;
  /** The number of its group, if it must be opened with one. */
  group?: string;
}

/** Issued by `start` for an open upload. */
export interface OpenUpload extends Omit<Ticket, "id" | "group"> {
  fileId: string;
  key: string;
  /** Null for a single-request upload. */
  uploadId: string | null;
}

export function getRoute<Context>(router: FileRouter<Context>, name: unknown): FileRoute<Context> {
  const route = typeof name === "string" && Object.hasOwn(router, name) ? router[name] : undefined;
  if (route !== undefined) return route;
  throw new UpstowError(`There is no upload route "${name}".`, {
    code: "NOT_FOUND",
    status: 404,
    suggestion: `Known routes: ${Object.keys(router).join(", ")}.`,
  });
}

export async function findFile<Context>(tools: Tools<Context>, upload: OpenUpload) {
  try {
    const file = await upstream(() => tools.files.get(upload.key));
    return file.id === upload.fileId ? file : null;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

export const isNotFound = (error: unknown) => error instanceof UpstowError && error.code === "NOT_FOUND";

/** A rejected API key is a server problem; to browsers it must not look like a missing sign-in. */
export async function upstream<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof UpstowError) || error.code !== "UNAUTHORIZED") throw error;
    throw new UpstowError("The upload service rejected this server's API key.", {
      code: "INTERNAL_ERROR",
      status: 500,
      requestId: error.requestId,
      cause: error,
    });
  }
}
