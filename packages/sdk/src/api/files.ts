import type { ErrorBody } from "../wire/errors.ts";
import type { BulkDeleteResult, FileListItem, FileObject, Metadata, PageQuery } from "../wire/files.ts";
import { list } from "./list.ts";
import { pathTo, pick, type Request, type RequestOptions } from "./request.ts";

export function createFiles(request: Request) {
  const one = pick<"file", FileObject>(request, "file");
  return {
    /** Newest first. */
    list: (query?: PageQuery, options?: RequestOptions) =>
      list<"files", FileListItem>(request, "/files", "files", query, options),

    get: (key: string, options?: RequestOptions) => one("GET", pathTo("files", key), options),

    /** Replaces the metadata. */
    update: (key: string, body: { metadata: Metadata }, options?: RequestOptions) =>
      one("PATCH", pathTo("files", key), options, body),

    async delete(key: string, options?: RequestOptions) {
      await request("DELETE", pathTo("files", key), options);
    },

    /** Up to 100 keys. Keys that were not there are in `failures`; that is not an error. */
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
