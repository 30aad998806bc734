import type { Database } from "../../db/database.ts";
import { randomText } from "../../kernel/ids.ts";
import type { ObjectStore } from "../object-store.ts";
import type { BlobFiles } from "./blob-files.ts";
import { finishUpload } from "./finish-upload.ts";
import { buryObject, etagOf } from "./object-records.ts";
import { findUpload, listPartRows, lockUpload, openUpload } from "./part-records.ts";
import type { SignUrl } from "./presigned-url.ts";

type Multipart = Pick<
  ObjectStore,
  | "startMultipart"
  | "presignParts"
  | "listParts"
  | "finishMultipart"
  | "finishMultipartWithin"
  | "abortMultipart"
>;

export function createMultipart(
  db: Database,
  files: BlobFiles,
  signUrl: SignUrl,
  now: () => number,
): Multipart {
  return {
    async startMultipart({ key, sizeBytes }) {
      const uploadId = randomText(26);
      await openUpload(db, { key, uploadId, sizeBytes });
      return uploadId;
    },

    async presignParts({ uploadId, sizeBytes, partNumbers, expiresInSec }) {
      return partNumbers.map((partNumber) =>
        signUrl({ kind: "part", uploadId, partNumber, maxBytes: sizeBytes }, expiresInSec),
      );
    },

    async listParts({ key, uploadId }) {
      const upload = await findUpload(db, uploadId);
      if (upload?.key !== key || upload.state !== "open") return null;
      const rows = await listPartRows(db, uploadId);
      return rows
        .filter((row) => row.damaged === 0)
        .map((row) => ({
          partNumber: row.part_number,
          etag: etagOf(row.sha256),
          sizeBytes: row.size_bytes,
          receivedAt: row.received_at,
        }));
    },

    finishMultipart: (upload) => db.transact((tx) => finishUpload(tx, upload, now())),
    finishMultipartWithin: (tx, upload) => finishUpload(tx, upload, now()),

    async abortMultipart({ key, uploadId }) {
      const unused = await db.transact(async (tx) => {
        const upload = await lockUpload(tx, uploadId);
        return upload?.key === key && upload.state === "open" ? buryObject(tx, key, now()) : [];
      });
      await files.remove(unused);
    },
  };
}
