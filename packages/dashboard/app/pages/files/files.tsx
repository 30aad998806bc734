import type { Router } from "@upstow/contract";
import { useState } from "react";
import { formatCount } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { FileDialog } from "./file-dialog.tsx";
import { type FileFilter, isFiltered, readFilter, toServerQuery, writeFilter } from "./file-filter.ts";
import { FileGrid } from "./file-grid.tsx";
import { FileTable } from "./file-table.tsx";
import { FilterBar, FilterNote } from "./filter-bar.tsx";
import type { FoundFile } from "./found-file.ts";
import { UndoBar } from "./undo-bar.tsx";
import { UploadButton } from "./upload-button.tsx";
import { UploadList } from "./upload-list.tsx";
import { useFileDeletion } from "./use-file-deletion.ts";
import { useFileSearch } from "./use-file-search.ts";

/** As many as one call deletes. */
const mostChosen = 2_000;
const views = ["list", "grid"] as const;
type View = (typeof views)[number];

export default function Files() {
  const { api, liveApi, project, mayChange } = useWorkspace();
  const [filter, setFilter] = useState(() => readFilter(new URLSearchParams(location.search)));
  const [view, setView] = useState(readView);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<FoundFile | null>(null);
  const routes = useLoad<{ routers: Router[] }>(`${liveApi}/projects/${project.id}/routers`);
  const search = useFileSearch(`${api}/search?${toServerQuery(filter)}`);
  const deletion = useFileDeletion(api);
  const files = search.files.filter((file) => !deletion.hidden.has(file.id));

  const change = (next: FileFilter) => {
    setFilter(next);
    setChosen(new Set());
    history.replaceState(null, "", `${location.pathname}?${writeFilter(next)}`.replace(/\?$/, ""));
  };
  const choose = (some: FoundFile[], isChosen: boolean) => {
    const ids = new Set(some.map((file) => file.id));
    const others = [...chosen].filter((id) => !ids.has(id));
    setChosen(new Set(isChosen ? [...others, ...ids].slice(0, mostChosen) : others));
  };
  const remove = (ids: string[]) => {
    deletion.start(ids);
    setChosen(new Set());
    setOpen(null);
  };
  const show = (next: View) => {
    setView(next);
    localStorage.setItem("upstow-files-view", next);
  };
  const list = {
    files,
    hasMore: search.hasMore,
    loadMore: search.loadMore,
    chosen,
    onChoose: mayChange ? choose : null,
    onOpen: setOpen,
  };

  return (
    <>
      <div className="title">
        <h1>Files</h1>
        <span className="line">
          <ViewSwitch view={view} onChange={show} />
          {mayChange && <UploadButton routes={routes.data?.routers ?? []} />}
        </span>
      </div>
      {mayChange && <UploadList onUploaded={search.reload} />}
      <FilterBar filter={filter} routes={routes.data?.routers ?? []} onChange={change} />
      {chosen.size > 0 && (
        <div className="chosen" role="status">
          {chosen.size === mostChosen
            ? `${formatCount(mostChosen)} chosen, the most at once`
            : `${chosen.size} chosen`}
          <button type="button" className="danger" onClick={() => remove([...chosen])}>
            Delete {formatCount(chosen.size)}
          </button>
          <button type="button" onClick={() => setChosen(new Set())}>
            Choose none
          </button>
        </div>
      )}
      {search.error !== null && <Failure error={search.error} retry={search.reload} />}
      {files.length > 0 ? (
        <div className={search.isStale ? "stale" : undefined} aria-busy={search.isLoading}>
          {view === "grid" ? <FileGrid {...list} /> : <FileTable {...list} />}
        </div>
      ) : (
        <Nothing isLoading={search.isLoading} hasFailed={search.error !== null} filter={filter} />
      )}
      {open !== null && (
        <FileDialog file={open} onClose={() => setOpen(null)} onDelete={() => remove([open.id])} />
      )}
      <UndoBar deletion={deletion} />
    </>
  );
}

function Nothing(props: { isLoading: boolean; hasFailed: boolean; filter: FileFilter }) {
  if (props.hasFailed) return null;
  if (props.isLoading) return <Loading />;
  if (isFiltered(props.filter)) {
    return (
      <Empty title="Nothing matches">
        <FilterNote filter={props.filter} />
      </Empty>
    );
  }
  return (
    <Empty title="No files yet">
      <p>
        Let files fall anywhere on this page, or upload them from your application.{" "}
        <a href="/docs">How to upload</a>
      </p>
    </Empty>
  );
}

function ViewSwitch({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return (
    <fieldset className="switch">
      <legend className="visually-hidden">View</legend>
      {views.map((name) => (
        <button type="button" key={name} aria-pressed={view === name} onClick={() => onChange(name)}>
          {name === "list" ? "List" : "Grid"}
        </button>
      ))}
    </fieldset>
  );
}

function readView(): View {
  return localStorage.getItem("upstow-files-view") === "grid" ? "grid" : "list";
}
