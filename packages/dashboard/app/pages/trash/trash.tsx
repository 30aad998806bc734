import { useState } from "react";
import { ApiError, callApi } from "../../api.ts";
import { formatAgo, formatBytes, formatIn, formatMany, formatTime } from "../../format.ts";
import { usePages } from "../../load.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { Empty, Failure, ListState } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";

interface TrashedFile {
  id: string;
  key: string;
  name: string;
  size: number;
  type: string;
  deletedAt: string;
  purgeAt: string;
}

/** Deleted files that the project's trash still has. */
export default function Trash() {
  const { api, mayChange, urlOf } = useWorkspace();
  const list = usePages<TrashedFile, "files">(`${api}/trash?limit=50`, "files");
  const [purging, setPurging] = useState<TrashedFile | null>(null);
  const [status, setStatus] = useState("");
  const { error, isBusy, run } = useAction();
  /** Someone else may have restored or removed it since the list was loaded. */
  const end = async (file: TrashedFile, method: string, path: string, how: object) => {
    setStatus("");
    try {
      await callApi(method, `${api}/${path}`, { keys: [file.key], ...how });
    } catch (problem) {
      if (!(problem instanceof ApiError && problem.status === 404)) throw problem;
      throw new ApiError(404, `${showHidden(file.name)} is no longer in the trash.`);
    } finally {
      list.reload();
    }
  };
  const restore = (file: TrashedFile) =>
    run(async () => {
      await end(file, "POST", "files/restore", {});
      setStatus(`${showHidden(file.name)} restored`);
    });
  const purge = async (file: TrashedFile) => {
    await end(file, "DELETE", "files", { purge: true });
    setPurging(null);
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
        <ul className="rows" aria-label="Deleted files">
          {list.items.map((file) => (
            <li key={file.id}>
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
                  <button type="button" disabled={isBusy} onClick={() => void restore(file)}>
                    Restore<span className="visually-hidden"> {showHidden(file.name)}</span>
                  </button>
                  <button type="button" className="danger" onClick={() => setPurging(file)}>
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
              <SafeText text={purging.name} /> ({formatMany(purging.size, "byte")}) cannot be restored
              afterwards.
            </p>
          </Form>
        </Dialog>
      )}
    </>
  );
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
