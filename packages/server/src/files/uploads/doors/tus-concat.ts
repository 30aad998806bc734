import { CONCAT_MAX } from "@upstow/contract";
import type { Deps } from "../../../deps.ts";
import { AppError, invalid } from "../../../kernel/errors.ts";
import { countedBytes } from "../../../projects/usage/period.ts";
import { releaseUsage } from "../../../projects/usage/quota.ts";
import { scheduleFileDeletion } from "../../storage-deletions.ts";
import { givePlacesBack } from "../grants/queries.ts";
import type { SignedIds } from "../grants/token.ts";
import { removeOpenMultipart } from "../queries.ts";
import type { Uploader } from "../request-upload.ts";
import { deleteResumable, type ResumableUpload, setJoined } from "../resumable/queries.ts";
import { getResumable, type NewResumable, openResumable } from "../resumable/uploads.ts";

type Concat = { kind: "partial" } | { kind: "final"; ids(tokens: SignedIds): string[] };

export function readConcat(header: string | string[] | undefined): Concat | null {
  if (header === undefined) return null;
  const [kind, urls = "", ...rest] = String(header).split(";");
  if (kind === "partial" && urls === "") return { kind };
  const named = urls.trim().split(/ +/);
  if (kind !== "final" || rest.length > 0 || urls === "" || named.length > CONCAT_MAX)
    throw invalid("Upload-Concat", `must be partial, or final; and the URLs of 1 to ${CONCAT_MAX} uploads`);
  return {
    kind,
    ids: (tokens) =>
      named.map((url) => {
        const id = tokens.read(url.slice(url.lastIndexOf("/") + 1));
        if (id === null) throw invalid("Upload-Concat", "names something that is no upload");
        return id;
      }),
  };
}

const incomplete = () =>
  new AppError(
    "VALIDATION_ERROR",
    "A partial upload is not complete, or is no partial upload of this caller.",
    {
      suggestion: "Send all bytes of the partial uploads, then put them together, each once.",
    },
  );

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
