import { CHANGES_PER_CALL, type UpdateFileBody } from "@upstow/contract";
import { callApi, JsonText } from "../../api.ts";
import { type Matching, toBody } from "./use-file-deletion.ts";

/** Files one by one, or all that a search finds. */
export type Selection = { ids: string[] } | Matching;

/** The fields to change; metadata as typed, because parsing it could change large numbers. */
export type Change = Pick<UpdateFileBody, "access" | "expiresAt" | "expiresIn"> | { metadataText: string };

/** Call by call, until all are changed or the caller stops. Returns how many were left to change. */
export async function changeMany(
  api: string,
  selection: Selection,
  change: Change,
  { onProgress, signal }: { onProgress: (changed: number) => void; signal: AbortSignal },
): Promise<number> {
  let changed = 0;
  const send = async (path: string, body: object) => {
    const answer = await callApi<Answer>("POST", `${api}/${path}`, withChange(body, change));
    changed += answer.changed;
    onProgress(changed);
    return answer.before ?? null;
  };
  if ("ids" in selection) {
    const { ids } = selection;
    for (let from = 0; from < ids.length && !signal.aborted; from += CHANGES_PER_CALL)
      await send("files/change", { ids: ids.slice(from, from + CHANGES_PER_CALL) });
    return changed;
  }
  for (let before: string | null = selection.before; before !== null && !signal.aborted; )
    before = await send("search/change", toBody({ ...selection, before }));
  return changed;
}

interface Answer {
  changed: number;
  /** Where the next call continues; only for searches. */
  before?: string | null;
}

function withChange(body: object, change: Change): unknown {
  if (!("metadataText" in change)) return { ...body, change };
  return new JsonText(`${JSON.stringify(body).slice(0, -1)},"change":{"metadata":${change.metadataText}}}`);
}
