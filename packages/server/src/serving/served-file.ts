import { endOf } from "../files/life.ts";
import type { ServedFile } from "./queries.ts";
import type { ServedObject } from "./send-object.ts";
import { objectOfFile } from "./stored-bytes.ts";

type Sharing = Pick<ServedObject, "privacy" | "mayBeShared">;

/** One object per row, because the database returns the same row repeatedly. */
export function createServedFiles(
  sharingOf: (file: ServedFile) => Sharing,
): (file: ServedFile) => ServedObject {
  const served = new WeakMap<ServedFile, ServedObject>();
  return (file) => {
    let object = served.get(file);
    if (object === undefined) {
      object = {
        ...sharingOf(file),
        fileId: file.id,
        isLasting: true,
        endsAtMs: endOf(file),
        store: file.store,
        ...objectOfFile(file),
        sizeBytes: file.size_bytes,
        etag: file.etag ?? "",
        modifiedMs: file.completed_at ?? 0,
        contentType: file.type,
        fileName: file.name,
        projectId: file.project_id,
        environment: file.environment,
      };
      served.set(file, object);
    }
    return object;
  };
}
