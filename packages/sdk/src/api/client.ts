import { createSigner } from "../links/create-signer.ts";
import { createAppendStream } from "../upload/append-stream.ts";
import type { UploadSource } from "../upload/byte-source.ts";
import { createImport, type ImportOptions } from "../upload/import-from-url.ts";
import { createUpload, type UploadOptions } from "../upload/upload.ts";
import type { CompletedFile, FileObject } from "../wire/files.ts";
import type { TransformedImage, TransformImageBody } from "../wire/transforms.ts";
import type { Log, LogQuery, Usage, UsageRecord } from "../wire/usage.ts";
import { type EventsOptions, type ReceivedEvent, streamEvents } from "./events.ts";
import { createFiles } from "./files.ts";
import { createGrants } from "./grants.ts";
import { createLinks } from "./links.ts";
import { list } from "./list.ts";
import { createKeys, createProjects, createRouters } from "./projects.ts";
import { createRequest, type PostOptions, pick, type RequestOptions } from "./request.ts";
import { readConnection, type UpstowOptions } from "./settings.ts";
import { createUploads } from "./uploads.ts";
import { createWebhooks } from "./webhooks.ts";

// A rate limit window lasts one minute, so waiting that long is always enough.
const rateLimitWaitMs = 65_000;

/** The whole API of an Upstow service, for servers, scripts and tools. */
export function createUpstow(options: UpstowOptions = {}) {
  const connection = readConnection(options, rateLimitWaitMs);
  const request = createRequest(connection);
  const uploads = createUploads(request);
  const files = createFiles(request, createSigner(request, connection, options));
  const grants = createGrants(request);
  const appendStream = createAppendStream(grants, files, connection);
  const upload = createUpload(uploads, files, appendStream, () => connection().fetch, options.concurrency);
  const importFromUrl = createImport(uploads, files);
  return {
    /** Uploads a file, a blob, bytes or a stream: in one request up to 10 MB, in parts above. */
    upload: (source: UploadSource, uploadOptions?: UploadOptions): Promise<CompletedFile> =>
      upload(source, uploadOptions),
    /** Lets the service fetch a file from a URL, and waits until it is stored. Rejects with the reason if it fails. */
    importFromUrl: (url: string, importOptions?: ImportOptions): Promise<FileObject> =>
      importFromUrl(url, importOptions),
    uploads,
    files,
    links: createLinks(request),
    grants,
    projects: createProjects(request),
    routers: createRouters(request),
    keys: createKeys(request),
    usage: {
      get: (callOptions?: RequestOptions) => request<Usage>("GET", "/usage", callOptions),
      /** Newest month first. */
      history: (query?: { months?: number }, callOptions?: RequestOptions) =>
        pick<"usage", UsageRecord[]>(request, "usage")(
          "GET",
          "/usage/history",
          callOptions,
          undefined,
          query,
        ),
    },
    logs: {
      /** Newest first. */
      list: (query?: LogQuery, callOptions?: RequestOptions) =>
        list<"logs", Log>(request, "/logs", "logs", query, callOptions),
    },
    transforms: {
      /** The URL of an image variant. */
      image: (body: TransformImageBody, callOptions?: PostOptions) =>
        request<TransformedImage>("POST", "/transforms/image", callOptions, body),
    },
    webhooks: createWebhooks(request),
    events: {
      /** An endless stream of events as they happen; after a broken connection it resumes where it stopped. */
      stream: (streamOptions?: EventsOptions): AsyncGenerator<ReceivedEvent, void> =>
        streamEvents(connection(), streamOptions),
    },
  };
}

export type Upstow = ReturnType<typeof createUpstow>;
