import { UpstowError } from "../errors.ts";
import type { BulkDeleteResult, FileListItem, FileObject, Metadata, PageQuery } from "../wire/files.ts";
import { list } from "./list.ts";
import type { Request, RequestOptions } from "./request.ts";

export function createFiles(request: Request) {
  const pathOf = (key: string) => `/files/${encodeURIComponent(key)}`;
  return {
    /** Newest first. */
    list: (query: PageQuery = {}, options: RequestOptions = {}) =>
      list<"files", FileListItem>(request, "/files", "files", query, options),

    async get(key: string, options?: RequestOptions) {
      return (await request<{ file: FileObject }>("GET", pathOf(key), options)).file;
    },

    /** Replaces the metadata. */
    async update(key: string, body: { metadata: Metadata }, options?: RequestOptions) {
      return (await request<{ file: FileObject }>("PATCH", pathOf(key), { ...options, body })).file;
    },

    async delete(key: string, options?: RequestOptions) {
      await request("DELETE", pathOf(key), options);
    },

    /** Up to 100 keys. Keys that were not there are in `failures`; that is not an error. */
    async deleteMany(keys: string[], options?: RequestOptions): Promise<BulkDeleteResult> {
      try {
        return await request("DELETE", "/files", { ...options, body: { keys } });
      } catch (error) {
        const answer = error instanceof UpstowError ? (error.cause as Partial<BulkDeleteResult>) : null;
        if (answer?.failures === undefined) throw error;
        const { deleted = 0, failed = 0, failures, reclaimedBytes = 0 } = answer;
        return { deleted, failed, failures, reclaimedBytes };
      }
    },
  };
}
