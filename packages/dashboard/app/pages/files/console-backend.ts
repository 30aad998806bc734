import { checkSession } from "../../api.ts";

type Fetch = typeof globalThis.fetch;

interface FileInfo {
  name: string;
  size: number;
  type: string;
}
/** The folder that a file was dropped with, such as "photos/2026/"; empty where it came alone. */
export interface UploadInput {
  folder: string;
}
interface Ticket extends FileInfo, UploadInput {
  /** However often it is presented, it opens one upload. */
  id: string;
  route: string;
}
interface OpenUpload {
  fileId: string;
  key: string;
  uploadId: string | null;
}
interface UploadedPart {
  partNumber: number;
  etag: string;
}
type Action =
  | { action: "begin"; route: string; files: FileInfo[]; input?: UploadInput }
  | { action: "start"; ticket: string; resume?: string }
  | { action: "sign"; token: string; partNumbers: number[] }
  | { action: "parts"; token: string }
  | { action: "complete"; token: string; parts?: UploadedPart[] }
  | { action: "abort"; token: string };

const multipartAboveBytes = 10 * 1024 * 1024;

/** A service response that is passed on unchanged. */
class Refusal {
  readonly response: Response;
  constructor(response: Response) {
    this.response = response;
  }
}

/**
 * Lets the uploader of the SDK, which speaks with an application's own endpoint, speak with the dashboard's API. There
 * the session says who uploads, and the service itself checks every call: tickets and tokens need no seal.
 */
export function createConsoleBackend(api: string): Fetch {
  async function ask<Answer>(method: string, path: string, body?: object, idempotencyKey?: string) {
    const response = await fetch(`/dashboard/api${api}${path}`, {
      method,
      credentials: "same-origin",
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status === 401) checkSession();
    if (!response.ok) throw new Refusal(response);
    return (await response.json()) as Answer;
  }

  async function start(ticket: Ticket, resume: string | undefined) {
    const resumed = resume === undefined ? null : await findResumable(JSON.parse(resume));
    if (resumed !== null) return resumed;
    const { name, size, type, route, id, folder } = ticket;
    const metadata = folder === "" ? {} : { metadata: { path: folder + name } };
    const body = { fileName: name, fileSize: size, contentType: type, routeSlug: route, ...metadata };
    const kind = size > multipartAboveBytes ? "multipart/init" : "request";
    const {
      fileId,
      key,
      uploadId = null,
      ...opened
    } = await ask<OpenUpload>("POST", `/upload/${kind}`, body, id);
    const token: OpenUpload = { fileId, key, uploadId };
    return { token: JSON.stringify(token), ...opened, ...(uploadId === null ? {} : { received: [] }) };
  }

  /** Null if the earlier upload can't be continued. */
  async function findResumable(upload: OpenUpload) {
    const { fileId, uploadId } = upload;
    const token = JSON.stringify(upload);
    try {
      const query = new URLSearchParams({ uploadId: uploadId ?? "" });
      const { partSize, partCount, parts } = await ask<{
        partSize: number;
        partCount: number;
        parts: UploadedPart[];
      }>("GET", `/upload/multipart/${fileId}?${query}`);
      const has = new Set(parts.map((part) => part.partNumber));
      const numbers = Array.from({ length: partCount }, (_, i) => i + 1);
      const partNumbers = numbers.filter((partNumber) => !has.has(partNumber));
      if (partNumbers.length === 0) return { token, partSize, parts: [], received: parts };
      const signed = await ask<object>("POST", "/upload/multipart/sign", { fileId, uploadId, partNumbers });
      return { token, partSize, ...signed, received: parts };
    } catch (problem) {
      if (!(problem instanceof Refusal) || problem.response.status !== 404) throw problem;
      return (await isComplete(upload)) ? { token } : null;
    }
  }

  async function complete(upload: OpenUpload, parts: UploadedPart[] | undefined) {
    const { fileId, uploadId, key } = upload;
    try {
      if (uploadId === null) return { ...(await ask<object>("POST", "/upload/complete", { fileId })) };
      if (parts !== undefined)
        return { ...(await ask<object>("POST", "/upload/multipart/complete", { fileId, uploadId, parts })) };
    } catch (problem) {
      // The response to an earlier call may have been lost.
      if (!(problem instanceof Refusal) || problem.response.status !== 404) throw problem;
      if (!(await isComplete(upload))) throw problem;
    }
    return ask<object>("GET", `/files/${encodeURIComponent(key)}`);
  }

  async function isComplete({ key, fileId }: OpenUpload): Promise<boolean> {
    try {
      const path = `/files/${encodeURIComponent(key)}`;
      const { file } = await ask<{ file: { id: string; status: string } }>("GET", path);
      return file.id === fileId && file.status === "UPLOADED";
    } catch (problem) {
      if (problem instanceof Refusal && problem.response.status === 404) return false;
      throw problem;
    }
  }

  async function abort({ fileId, uploadId, key }: OpenUpload) {
    const isOver = (problem: unknown) => problem instanceof Refusal && problem.response.status === 404;
    const ending =
      uploadId === null
        ? ask("DELETE", `/files/${encodeURIComponent(key)}`)
        : ask("POST", "/upload/multipart/abort", { fileId, uploadId });
    await ending.catch((problem) => {
      if (!isOver(problem)) throw problem;
    });
    return { ok: true };
  }

  function run(action: Action): object | Promise<object> {
    if (action.action === "begin") {
      const { route, files, input } = action;
      const folder = input?.folder ?? "";
      const tickets = files.map((file): Ticket => ({ ...file, route, folder, id: crypto.randomUUID() }));
      return { tickets: tickets.map((ticket) => JSON.stringify(ticket)) };
    }
    if (action.action === "start") return start(JSON.parse(action.ticket), action.resume);
    const upload = JSON.parse(action.token) as OpenUpload;
    const { fileId, uploadId } = upload;
    if (action.action === "complete") return complete(upload, action.parts);
    if (action.action === "abort") return abort(upload);
    if (action.action === "parts")
      return ask("GET", `/upload/multipart/${fileId}?uploadId=${encodeURIComponent(uploadId ?? "")}`);
    return ask("POST", "/upload/multipart/sign", { fileId, uploadId, partNumbers: action.partNumbers });
  }

  return async (_url, init) => {
    try {
      return Response.json(await run(JSON.parse(String(init?.body)) as Action));
    } catch (problem) {
      if (problem instanceof Refusal) return problem.response;
      throw problem;
    }
  };
}
