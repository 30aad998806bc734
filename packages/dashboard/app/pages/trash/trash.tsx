import { useState } from "react";
import { ApiError, callApi } from "../../api.ts";
import { formatAgo, formatBytes, formatCount, formatIn, formatMany, formatTime } from "../../format.ts";
import { usePages } from "../../load.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { Empty, Failure, ListState } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { SelectBox } from "../files/file-row-parts.tsx";

interface TrashedFile {
  id: string;
  key: string;
  name: string;
  size: number;
  type: string;
  deletedAt: string;
  purgeAt: string;
}

/** As many as one call restores. */
const mostRestored = 100;

/** Deleted files that the project's trash still has. */
export default function Trash() {
  const { api, mayChange, urlOf } = useWorkspace();
  const list = usePages<TrashedFile, "files">(`${api}/trash?limit=50`, "files");
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [purging, setPurging] = useState<TrashedFile[] | null>(null);
  const [status, setStatus] = useState("");
  const { error, isBusy, run } = useAction();
  const selected = list.items.filter(({ id }) => picked.has(id));
  const isAll = selected.length === list.items.length;
  const pick = (files: TrashedFile[], isPicked: boolean) => {
    const changed = new Set(files.map(({ id }) => id));
    setPicked(new Set([...[...picked].filter((id) => !changed.has(id)), ...(isPicked ? changed : [])]));
  };
  /** Someone else may have restored or removed some since the list was loaded. */
  const end = async (files: TrashedFile[], done: string, send: (ids: string[]) => Promise<number>) => {
    setStatus("");
    const count = await send(files.map(({ id }) => id)).finally(list.reload);
    setPicked(new Set());
    if (count > 0) setStatus(`${nameOf(files, count)} ${done}`);
    const missing = files.length - count;
    if (missing > 0)
      throw new ApiError(
        404,
        `${nameOf(files, missing)} ${missing === 1 ? "is" : "are"} no longer in the trash.`,
      );
  };
  const restore = (files: TrashedFile[]) =>
    run(() => end(files, "restored", (ids) => restoreFiles(api, ids)));
  const purge = async (files: TrashedFile[]) => {
    setPurging(null);
    await run(() =>
      end(files, "permanently deleted", async (ids) => {
        const { deleted } = await callApi<{ deleted: number }>("POST", `${api}/trash/delete`, { ids });
        return deleted;
      }),
    );
  };
  return (
    <>
      <div className="title">
        <h1>Trash</h1>
        <span role="status">{status}</span>
      </div>
      <TrashPeriod />
      {error !== null && <Failure error={error} />}
      <ListState
        list={list}
        empty={
          <Empty title="The trash is empty">
            <p>
              <Link to={urlOf("files")}>Back to files</Link>
            </p>
          </Empty>
        }
      >
        {mayChange && (
          <div className="rows-head">
            <label className="grow">
              <input
                type="checkbox"
                ref={(box) => {
                  if (box !== null) box.indeterminate = selected.length > 0 && !isAll;
                }}
                checked={isAll}
                onChange={({ target }) => pick(list.items, target.checked)}
              />
              {selected.length === 0 ? "Select all" : `${formatCount(selected.length)} selected`}
            </label>
            <span className="line">
              <button
                type="button"
                disabled={isBusy || selected.length === 0}
                onClick={() => void restore(selected)}
              >
                Restore<span className="visually-hidden"> selected</span>
              </button>
              <button
                type="button"
                className="danger"
                disabled={isBusy || selected.length === 0}
                onClick={() => setPurging(selected)}
              >
                Delete permanently<span className="visually-hidden"> (selected)</span>
              </button>
            </span>
          </div>
        )}
        <ul className="rows" aria-label="Deleted files">
          {list.items.map((file) => (
            <li key={file.id} className={picked.has(file.id) ? "selected" : undefined}>
              {mayChange && <SelectBox file={file} chosen={picked} onChoose={pick} />}
              <span className="grow">
                <strong className="name">
                  <SafeText text={file.name} />
                </strong>
                <span className="dim">
                  {formatBytes(file.size)} · <SafeText text={file.type} />
                </span>
                <span className="dim">
                  <span title={formatTime(file.deletedAt)}>Deleted {formatAgo(file.deletedAt)}</span> ·{" "}
                  <span title={formatTime(file.purgeAt)}>Removed for good {formatIn(file.purgeAt)}</span>
                </span>
              </span>
              {mayChange && (
                <span className="line">
                  <button type="button" disabled={isBusy} onClick={() => void restore([file])}>
                    Restore<span className="visually-hidden"> {showHidden(file.name)}</span>
                  </button>
                  <button type="button" className="danger" onClick={() => setPurging([file])}>
                    Delete permanently<span className="visually-hidden"> {showHidden(file.name)}</span>
                  </button>
                </span>
              )}
            </li>
          ))}
        </ul>
        <MoreButton list={list} />
      </ListState>
      {purging !== null && (
        <Dialog title="Delete permanently" onClose={() => setPurging(null)}>
          <Form submit="Delete permanently" isDangerous onSubmit={() => purge(purging)}>
            <p>
              {nameOf(purging, purging.length)} (
              {formatMany(
                purging.reduce((sum, { size }) => sum + size, 0),
                "byte",
              )}
              ) cannot be restored afterwards.
            </p>
          </Form>
        </Dialog>
      )}
    </>
  );
}

/** A single file by its name, so that it can be told apart. */
function nameOf(files: TrashedFile[], count: number): string {
  const [first] = files;
  return first !== undefined && files.length === 1 ? showHidden(first.name) : formatMany(count, "file");
}

async function restoreFiles(api: string, ids: string[]): Promise<number> {
  let count = 0;
  for (let from = 0; from < ids.length; from += mostRestored) {
    const keys = ids.slice(from, from + mostRestored);
    try {
      count += (await callApi<{ restored: number }>("POST", `${api}/files/restore`, { keys })).restored;
    } catch (problem) {
      // None of them is there any more.
      if (!(problem instanceof ApiError && problem.status === 404)) throw problem;
    }
  }
  return count;
}

function TrashPeriod() {
  const { project, isOwner, urlOf } = useWorkspace();
  const { trashDays } = project;
  return (
    <p className="dim">
      {trashDays === 0
        ? "The trash is off: deleted and expired files are removed for good immediately."
        : `Deleted and expired files can be restored for ${formatMany(trashDays, "day")}, and count as storage until they are removed for good.`}{" "}
      {isOwner ? (
        <Link to={urlOf("settings/project")}>Change the trash period</Link>
      ) : (
        "The project’s owner can change the trash period."
      )}
    </p>
  );
}
