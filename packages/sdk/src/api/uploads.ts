import type { CompletedFile, FileObject } from "../wire/files.ts";
import type {
  BatchItem,
  CompleteMultipartBody,
  CompleteUploadBody,
  ImportUploadBody,
  InitiatedMultipart,
  MultipartRef,
  ReceivedParts,
  RequestedUpload,
  RequestUploadBody,
  SignedParts,
  SignPartsBody,
} from "../wire/uploads.ts";
import { type PostOptions, pathTo, type Request, type RequestOptions } from "./request.ts";

/** The individual calls of an upload; `upload()` makes them for you. */
export function createUploads(request: Request) {
  const post = <Answer>(path: string, body: object, options?: PostOptions) =>
    request<Answer>("POST", `/upload/${path}`, options, body);
  const complete = async (path: string, body: object, options?: PostOptions) =>
    (await post<{ file: CompletedFile }>(path, body, options)).file;
  return {
    request: (body: RequestUploadBody, options?: PostOptions) =>
      post<RequestedUpload>("request", body, options),

    complete: (body: CompleteUploadBody, options?: PostOptions) => complete("complete", body, options),

    /**
     * The service fetches a file from a URL by itself; its status is `UPLOADING` until then. `importFromUrl` waits for the
     * outcome.
     */
    import: async (body: ImportUploadBody, options?: PostOptions) =>
      (await post<{ file: FileObject }>("import", body, options)).file,

    /** Up to 100 files in one call, each checked individually. Rejects with the first error if none succeeds. */
    requestMany: async (files: RequestUploadBody[], options?: PostOptions) =>
      (await post<{ uploads: BatchItem<RequestedUpload>[] }>("batch/request", { files }, options)).uploads,

    /** Like `requestMany`. */
    completeMany: async (files: CompleteUploadBody[], options?: PostOptions) =>
      (await post<{ files: BatchItem<{ file: CompletedFile }>[] }>("batch/complete", { files }, options))
        .files,

    multipart: {
      init: (body: RequestUploadBody, options?: PostOptions) =>
        post<InitiatedMultipart>("multipart/init", body, options),

      /** New URLs for parts whose URLs have expired. */
      sign: (body: SignPartsBody, options?: PostOptions) =>
        post<SignedParts>("multipart/sign", body, options),

      /** The parts received so far. */
      list: ({ fileId, uploadId }: MultipartRef, options?: RequestOptions) =>
        request<ReceivedParts>("GET", pathTo("upload/multipart", fileId), options, undefined, { uploadId }),

      complete: (body: CompleteMultipartBody, options?: PostOptions) =>
        complete("multipart/complete", body, options),

      async abort({ fileId, uploadId }: MultipartRef, options?: PostOptions) {
        await post("multipart/abort", { fileId, uploadId }, options);
      },
    },
  };
}

export type Uploads = ReturnType<typeof createUploads>;
