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

/** What `begin` allowed: one file of one user on one route, to be started once. */
export interface Ticket {
  id: string;
  route: string;
  file: FileInfo;
  metadata: Metadata | null;
  /** Of the group that it is opened with, and not by itself. */
  group?: string;
}

/** What `start` opened. */
export interface OpenUpload extends Omit<Ticket, "id" | "group"> {
  fileId: string;
  key: string;
  /** Null for an upload in one piece. */
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

/** That the service refuses our key is our own trouble: to a browser it must not look like a missing sign-in. */
export async function upstream<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof UpstowError) || error.code !== "UNAUTHORIZED") throw error;
    throw new UpstowError("The upload service refused the API key of this server.", {
      code: "INTERNAL_ERROR",
      status: 500,
      requestId: error.requestId,
      cause: error,
    });
  }
}
