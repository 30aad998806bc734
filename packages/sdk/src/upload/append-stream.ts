import type { Files } from "../api/files.ts";
import type { Grants } from "../api/grants.ts";
import type { Connection } from "../api/request.ts";
import { UpstowError } from "../errors.ts";
import { exchange, mayPass, parseJson, pauseFor, toError } from "../http/call.ts";
import { orAborted, wait } from "../http/wait.ts";
import type { CompletedFile } from "../wire/files.ts";
import type { RequestUploadBody } from "../wire/uploads.ts";
import type { Bytes, EndlessSource } from "./byte-source.ts";

export interface AppendJob {
  source: EndlessSource;
  body: Omit<RequestUploadBody, "fileSize">;
  signal: AbortSignal;
  policy: { retries: number; baseDelayMs: number };
  onProgress(sentBytes: number): void;
}

export type AppendStream = (job: AppendJob) => Promise<CompletedFile>;

/** One of them stays in memory until it has arrived. */
const pieceBytes = 8 * 1024 * 1024;
const grantSec = 24 * 60 * 60;
/** A piece slower than this will never finish. */
const slowestBytesPerSec = 16 * 1024;

/** Appends a stream to an upload whose size the service learns at the end, by the IETF's draft of resumable uploads. */
export function createAppendStream(grants: Grants, files: Files, connection: () => Connection): AppendStream {
  return async ({ source, body, signal, policy, onProgress }) => {
    const { fileName, contentType, routeSlug, metadata, access, audience, ...life } = body;
    // The protocol has no place for these; a grant does.
    const grant = await grants.create(
      {
        ...{ routeSlug, expiresIn: grantSec },
        // If the response to a creation was lost, start another upload.
        maxFiles: policy.retries + 1,
        ...(metadata && { metadata }),
        ...(access && { access }),
        ...(audience && { audience }),
      },
      { signal },
    );

    async function send(method: string, url: string, headers: Record<string, string>, bytes?: Bytes) {
      const { response, text } = await exchange({
        ...{ method, url, signal },
        fetch: connection().fetch,
        headers: { authorization: `Bearer ${grant.token}`, "upload-draft-interop-version": "8", ...headers },
        body: bytes,
        timeoutMs: 60_000 + ((bytes?.byteLength ?? 0) / slowestBytesPerSec) * 1000,
      });
      const answer = parseJson(text);
      if (!response.ok) throw toError(response, answer);
      return { headers: response.headers, answer: answer as { file: CompletedFile } | undefined };
    }

    async function persist<Result>(act: (attempt: number) => Promise<Result>): Promise<Result> {
      for (let attempt = 0; ; ) {
        try {
          return await act(attempt);
        } catch (error) {
          // 409: the service's offset differs from ours, or it still waits for a broken connection.
          const mayHelp = error instanceof UpstowError && (mayPass(error) || error.status === 409);
          if (!mayHelp || attempt >= policy.retries) throw error;
          await wait(pauseFor(error, attempt++, policy.baseDelayMs), signal);
        }
      }
    }

    const opened = await persist(() =>
      send("POST", `${connection().baseUrl.replace(/\/+$/, "")}/resumable`, {
        "upload-complete": "?0",
        "content-type": contentType,
        "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}`,
      }),
    );
    const url = new URL(opened.headers.get("location") ?? "", connection().baseUrl).href;

    async function sendPiece(
      bytes: Bytes,
      start: number,
      isLast: boolean,
    ): Promise<CompletedFile | undefined> {
      const { answer } = await persist(async (attempt) => {
        const arrived =
          attempt === 0 ? 0 : Number((await send("HEAD", url, {})).headers.get("upload-offset")) - start;
        if (!(arrived >= 0 && arrived <= bytes.byteLength))
          throw new UpstowError("The service expects a different offset of the stream.", {
            code: "UNEXPECTED_ANSWER",
          });
        const headers = {
          "content-type": "application/partial-upload",
          "upload-offset": String(start + arrived),
          "upload-complete": isLast ? "?1" : "?0",
        };
        return send("PATCH", url, headers, bytes.subarray(arrived));
      });
      return answer?.file;
    }

    try {
      for (let sentBytes = 0; ; ) {
        const bytes = await orAborted(source.next(pieceBytes), signal);
        const isLast = bytes.byteLength < pieceBytes;
        const file = await sendPiece(bytes, sentBytes, isLast);
        sentBytes += bytes.byteLength;
        onProgress(sentBytes);
        if (file === undefined) continue;
        if (life.expiresAt === undefined && life.expiresIn === undefined) return file;
        const { expiresAt } = await files.update(file.id, life);
        return { ...file, expiresAt };
      }
    } catch (error) {
      // Without the caller's signal, which may be aborted already.
      await connection()
        .fetch(url, { method: "DELETE", headers: { authorization: `Bearer ${grant.token}` } })
        .catch(() => {});
      throw error;
    }
  };
}
