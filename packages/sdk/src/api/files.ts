import type { LinkOptions, SignedGrant, Signer } from "../links/create-signer.ts";
import type {
  BulkDeleteResult,
  ClaimedFiles,
  FileListItem,
  FileObject,
  FileQuery,
  ImageFacts,
  Metadata,
  RestoredFiles,
  UpdateFileBody,
} from "../wire/files.ts";
import type { CreateGrantBody } from "../wire/links.ts";
import { list } from "./list.ts";
import {
  type PostOptions,
  pathTo,
  pick,
  type Request,
  type RequestOptions,
  unlessNoneFound,
} from "./request.ts";

/** List items have metadata and what is known of images only if it was requested. */
type Listed<Query> = FileListItem &
  (Query extends { include: `${string}metadata${string}` } ? { metadata: Metadata } : unknown) &
  (Query extends { include: `${string}image${string}` } ? { image: ImageFacts | null } : unknown);

export function createFiles(request: Request, signer: Signer) {
  const one = pick<"file", FileObject>(request, "file");
  return {
    /** Newest first: all files, or those that match the filters. */
    list<const Query extends FileQuery>(query?: Query, options?: RequestOptions) {
      const { metadata, ...fields }: FileQuery = query ?? {};
      for (const key in metadata) Object.assign(fields, { [`metadata.${key}`]: metadata[key] });
      return list<"files", Listed<Query>>(request, "/files", "files", fields, options);
    },

    get: (keyOrId: string, options?: RequestOptions) => one("GET", pathTo("files", keyOrId), options),

    /** Replaces the given fields and keeps the rest. */
    update: (keyOrId: string, body: UpdateFileBody, options?: RequestOptions) =>
      one("PATCH", pathTo("files", keyOrId), options, body),

    /** Creates a temporary URL of one file, private or public. Signed locally, without a call. */
    link: (keyOrId: string, options?: LinkOptions): Promise<string> => signer.link(keyOrId, options),

    /** Creates a grant to read all files of a route, a prefix or an audience. Signed locally, without a call. */
    grant: (body: CreateGrantBody): Promise<SignedGrant> => signer.grant(body),

    /** To the trash where the project has one. */
    async delete(keyOrId: string, options?: RequestOptions) {
      await request("DELETE", pathTo("files", keyOrId), options);
    },

    /**
     * Up to 100 keys or ids. Files that do not exist are listed in `failures`; that is not an error. With `purge`, bytes
     * are removed immediately, including those of files in the trash.
     */
    deleteMany: (
      keys: string[],
      { purge, ...options }: RequestOptions & { purge?: boolean } = {},
    ): Promise<BulkDeleteResult> =>
      unlessNoneFound(request("DELETE", "/files", options, { keys, ...(purge && { purge }) })),

    /** Keeps up to 100 files that would be deleted otherwise. Can be repeated; `failures` as in `deleteMany`. */
    claim: (keys: string[], options?: PostOptions): Promise<ClaimedFiles> =>
      unlessNoneFound(request("POST", "/files/claim", options, { keys })),

    /** Brings up to 100 files back from the trash; `failures` as in `deleteMany`. */
    restore: (keys: string[], options?: PostOptions): Promise<RestoredFiles> =>
      unlessNoneFound(request("POST", "/files/restore", options, { keys })),
  };
}

export type Files = ReturnType<typeof createFiles>;
