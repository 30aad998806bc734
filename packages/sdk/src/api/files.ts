import type { LinkOptions, SignedGrant, Signer } from "../links/create-signer.ts";
import type { ErrorBody } from "../wire/errors.ts";
import type {
  BulkDeleteResult,
  FileListItem,
  FileObject,
  FileQuery,
  Metadata,
  UpdateFileBody,
} from "../wire/files.ts";
import type { CreateGrantBody } from "../wire/links.ts";
import { list } from "./list.ts";
import { pathTo, pick, type Request, type RequestOptions } from "./request.ts";

/** List items have metadata only if it was requested. */
type Listed<Query> = Query extends { include: "metadata" }
  ? FileListItem & { metadata: Metadata }
  : FileListItem;

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

    /** A link that shows or saves one file, private or not. Signed here, without a call. */
    link: (keyOrId: string, options?: LinkOptions): Promise<string> => signer.link(keyOrId, options),

    /** The right to read all files of a route, a prefix or an audience. Signed here, without a call. */
    grant: (body: CreateGrantBody): Promise<SignedGrant> => signer.grant(body),

    async delete(keyOrId: string, options?: RequestOptions) {
      await request("DELETE", pathTo("files", keyOrId), options);
    },

    /** Up to 100 keys or ids. Files that do not exist are listed in `failures`; that is not an error. */
    async deleteMany(keys: string[], options?: RequestOptions): Promise<BulkDeleteResult> {
      try {
        return await request("DELETE", "/files", options, { keys });
      } catch (error) {
        const { error: _, ...answer } = ((error as Error).cause ?? {}) as BulkDeleteResult &
          Partial<ErrorBody>;
        if (answer.failures === undefined) throw error;
        return answer;
      }
    },
  };
}

export type Files = ReturnType<typeof createFiles>;
