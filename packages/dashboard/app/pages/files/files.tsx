import type { FileListItem } from "@upstow/contract";
import { useDeferredValue, useState } from "react";
import { formatAgo, formatBytes, formatTime } from "../../format.ts";
import { usePages } from "../../load.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { ScrollTable } from "../../parts/scroll-table.tsx";
import { Empty, ListState } from "../../parts/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { FileDialog } from "./file-dialog.tsx";
import { UndoBar } from "./undo-bar.tsx";
import { useFileDeletion } from "./use-file-deletion.ts";

export default function Files() {
  const { api, mayChange } = useWorkspace();
  const [filter, setFilter] = useState({ name: "", type: "", status: "" });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<FileListItem | null>(null);
  const asked = useDeferredValue(filter);
  const list = usePages<FileListItem, "files">(`${api}/search?${queryOf(asked)}`, "files");
  const deletion = useFileDeletion(api, list);
  const set = (change: Partial<typeof filter>) => setFilter({ ...filter, ...change });
  const remove = (files: FileListItem[]) => {
    deletion.start(files);
    setChosen(new Set());
    setOpen(null);
  };

  return (
    <>
      <h1>Files</h1>
      <search className="filters">
        <input
          type="search"
          aria-label="Search by name"
          placeholder="Search by name"
          value={filter.name}
          onChange={(event) => set({ name: event.target.value })}
        />
        <select aria-label="Type" value={filter.type} onChange={(event) => set({ type: event.target.value })}>
          <option value="">All types</option>
          {["image/", "video/", "audio/", "text/", "application/pdf", "application/"].map((type) => (
            <option key={type}>{type}</option>
          ))}
        </select>
        <select
          aria-label="Status"
          value={filter.status}
          onChange={(event) => set({ status: event.target.value })}
        >
          <option value="">Any status</option>
          {["UPLOADED", "UPLOADING", "FAILED"].map((status) => (
            <option key={status} value={status}>
              {status.toLowerCase()}
            </option>
          ))}
        </select>
        {chosen.size > 0 && (
          <button
            type="button"
            className="danger"
            onClick={() => remove(list.items.filter((file) => chosen.has(file.id)))}
          >
            Delete {chosen.size}
          </button>
        )}
      </search>
      <ListState list={list} empty={<NoFiles isFiltered={queryOf(asked) !== ""} />}>
        <ScrollTable label="Files">
          <thead>
            <tr>
              {mayChange && (
                <th className="tick">
                  <span className="visually-hidden">Choose</span>
                </th>
              )}
              <th>Name</th>
              <th className="aside">Type</th>
              <th className="number">Size</th>
              <th className="aside">Status</th>
              <th className="aside">Created</th>
            </tr>
          </thead>
          <tbody>
            {list.items.map((file) => (
              <tr key={file.id}>
                {mayChange && (
                  <td className="tick">
                    <input
                      type="checkbox"
                      aria-label={`Choose ${showHidden(file.name)}`}
                      checked={chosen.has(file.id)}
                      onChange={() => setChosen(toggle(chosen, file.id))}
                    />
                  </td>
                )}
                <td className="name">
                  <button type="button" className="link" onClick={() => setOpen(file)}>
                    <SafeText text={file.name} />
                  </button>
                </td>
                <td className="aside dim">
                  <SafeText text={file.type} />
                </td>
                <td className="number">{formatBytes(file.size)}</td>
                <td className="aside">
                  <span className={`tag ${file.status.toLowerCase()}`}>{file.status.toLowerCase()}</span>
                </td>
                <td className="aside dim moment" title={formatTime(file.createdAt)}>
                  {formatAgo(file.createdAt)}
                </td>
              </tr>
            ))}
          </tbody>
        </ScrollTable>
        <MoreButton list={list} />
      </ListState>
      {open !== null && (
        <FileDialog file={open} onClose={() => setOpen(null)} onDelete={() => remove([open])} />
      )}
      <UndoBar deletion={deletion} />
    </>
  );
}

function NoFiles({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="Nothing matches">
      <p>Try another name, type or status.</p>
    </Empty>
  ) : (
    <Empty title="No files yet">
      <p>
        Uploads of this environment show up here. <a href="/docs">How to upload</a>
      </p>
    </Empty>
  );
}

function queryOf(filter: Record<string, string>): string {
  return new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== "")).toString();
}

function toggle(chosen: ReadonlySet<string>, id: string): Set<string> {
  const next = new Set(chosen);
  if (!next.delete(id)) next.add(id);
  return next;
}
