import { isUtf8 } from "node:buffer";
import { CONCAT_MAX, FILE_NAME_MAX, METADATA_MAX_KEYS, SLUG_MAX } from "@upstow/contract";
import type { Deps } from "../../../deps.ts";
import { AppError, invalid } from "../../../kernel/errors.ts";
import { countedBytes } from "../../../projects/usage/period.ts";
import { releaseUsage } from "../../../projects/usage/quota.ts";
import { scheduleFileDeletion } from "../../storage-deletions.ts";
import type { SignedIds } from "../grants/grant.ts";
import { givePlacesBack } from "../grants/queries.ts";
import { removeOpenMultipart } from "../queries.ts";
import type { ArrivingFile, Uploader } from "../request-upload.ts";
import { deleteResumable, type ResumableUpload, setJoined } from "../resumable/queries.ts";
import { getResumable, type NewResumable, openResumable } from "../resumable/uploads.ts";
import { fileType } from "./door-headers.ts";

type Described = Omit<ArrivingFile, "fileSize">;

const wrong = (message: string) =>
  invalid("Upload-Metadata", message, "Send 'key base64,key2 base64', with each key once.");

/** `filename`, `filetype` and `route` name the file, its type and its route; every other pair is metadata. */
export function readUploadMetadata(header: string | string[] | undefined): Described {
  const pairs = new Map<string, string>();
  for (const pair of String(header ?? "").split(",")) {
    const [key = "", value = "", ...rest] = pair.trim().split(" ");
    if (key === "" && value === "") continue;
    if (!/^[\x21-\x7e]+$/.test(key) || rest.length > 0)
      throw wrong("has a pair that is not a key and a value");
    if (pairs.has(key)) throw wrong(`contains ${key} twice`);
    if (pairs.size >= METADATA_MAX_KEYS) throw wrong("has too many pairs");
    pairs.set(key, decode(key, value));
  }
  const take = (key: string) => {
    const value = pairs.get(key);
    pairs.delete(key);
    return value;
  };
  const fileName = take("filename") || "upload";
  if (fileName.length > FILE_NAME_MAX) throw wrong(`has a filename of more than ${FILE_NAME_MAX} characters`);
  const contentType = fileType(take("filetype"));
  const routeSlug = take("route") || "default";
  if (routeSlug.length > SLUG_MAX) throw wrong(`has a route of more than ${SLUG_MAX} characters`);
  return { fileName, contentType, routeSlug, metadata: Object.fromEntries(pairs) };
}

function decode(key: string, value: string): string {
  const bytes = Buffer.from(value, "base64");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(value) || !isUtf8(bytes) || bytes.includes(0))
    throw wrong(`has a value of ${key} that is not UTF-8 in base64`);
  return bytes.toString("utf8");
}

type Concat = { kind: "partial" } | { kind: "final"; ids(tokens: SignedIds): string[] };

export function readConcat(header: string | string[] | undefined): Concat | null {
  if (header === undefined) return null;
  const [kind, urls = "", ...rest] = String(header).split(";");
  if (kind === "partial" && urls === "") return { kind };
  const named = urls.trim().split(/ +/);
  if (kind !== "final" || rest.length > 0 || urls === "" || named.length > CONCAT_MAX)
    throw invalid(
      "Upload-Concat",
      `must be 'partial', or 'final;' followed by the URLs of 1 to ${CONCAT_MAX} uploads`,
    );
  return {
    kind,
    ids: (tokens) =>
      named.map((url) => {
        const id = tokens.read(url.slice(url.lastIndexOf("/") + 1));
        if (id === null) throw invalid("Upload-Concat", "contains a URL that is not an upload");
        return id;
      }),
  };
}

const incomplete = () =>
  new AppError("VALIDATION_ERROR", "A partial upload is incomplete, or does not belong to this caller.", {
    suggestion: "Send all bytes of the partial uploads, then concatenate each of them once.",
  });

/** Puts partial uploads together: their parts become those of one file, without copying, and they end. */
export async function joinPartials(
  deps: Deps,
  uploader: Uploader,
  wanted: Omit<NewResumable, "fileSize">,
  ids: string[],
): Promise<ResumableUpload> {
  const { actor, grant } = uploader;
  const store = await deps.stores.get(actor.storeName ?? deps.store.name);
  const { joins } = store.appends;
  if (joins === undefined) throw invalid("Upload-Concat", "is not available for files in a bucket");
  if (new Set(ids).size < ids.length) throw incomplete();
  const partials: ResumableUpload[] = [];
  for (const id of ids) partials.push(await getResumable(deps, id));
  const isWhole = (upload: ResumableUpload) =>
    upload.status === "UPLOADING" &&
    upload.project_id === actor.projectId &&
    upload.environment === actor.environment &&
    upload.store === store.name &&
    upload.offset_bytes === upload.length_bytes &&
    JSON.parse(upload.described).concat === "partial";
  if (!partials.every(isWhole)) throw incomplete();
  const fileSize = partials.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  let state = "";
  const upload = await openResumable(deps, uploader, { ...wanted, fileSize }, async (tx, file) => {
    const now = deps.now();
    const into = { key: file.key, uploadId: file.upload_id ?? "" };
    state = await joins(
      tx,
      partials.map(({ upload_id }) => upload_id ?? ""),
      into,
    );
    for (const partial of partials) {
      const scope = { projectId: partial.project_id, environment: partial.environment };
      const uploadId = partial.upload_id ?? "";
      const ended = await tx.get(removeOpenMultipart, { id: partial.id, ...scope, uploadId });
      if (ended === null) throw incomplete();
      await tx.run(deleteResumable, { fileId: partial.id });
      await releaseUsage(tx, now, scope, {
        storedBytes: 0,
        reservedBytes: countedBytes(ended, ended.size_bytes),
        uploadsByPeriod: new Map([[ended.reserved_period ?? "", 1]]),
      });
      await scheduleFileDeletion(tx, now, ended);
    }
    if (grant !== null) await tx.run(givePlacesBack, { id: grant.id, count: partials.length });
    await tx.run(setJoined, { fileId: file.id, offset: fileSize, state });
  });
  return { ...upload, offset_bytes: fileSize, store_state: state };
}
