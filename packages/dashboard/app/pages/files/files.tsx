import type { Router } from "@upstow/contract";
import { useMemo, useState } from "react";
import { useLoad } from "../../load.ts";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { goTo, usePath, useQuery } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { ChoiceBar } from "./choice-bar.tsx";
import { FileDialog } from "./file-dialog.tsx";
import { type FileFilter, isFiltered, readFilter, toServerQuery, writeFilter } from "./file-filter.ts";
import { FileFilters, FilterNote } from "./file-filters.tsx";
import { FileGrid } from "./file-grid.tsx";
import { FileTable } from "./file-table.tsx";
import type { FoundFile } from "./found-file.ts";
import { UndoBar } from "./undo-bar.tsx";
import { UploadButton } from "./upload-button.tsx";
import { UploadList } from "./upload-list.tsx";
import { mostChosen, useFileChoice } from "./use-file-choice.ts";
import { useFileDeletion } from "./use-file-deletion.ts";
import { useFileSearch } from "./use-file-search.ts";

const views = ["list", "grid"] as const;
type View = (typeof views)[number];

export default function Files() {
  const { api, liveApi, project, mayChange } = useWorkspace();
  const path = usePath();
  const address = useQuery();
  const filter = useMemo(() => readFilter(address), [address]);
  const [view, setView] = useState(readView);
  const [open, setOpen] = useState<FoundFile | null>(null);
  const routes = useLoad<{ routers: Router[] }>(`${liveApi}/projects/${project.id}/routers`);
  const query = toServerQuery(filter);
  const search = useFileSearch(`${api}/search?limit=100&${query}`);
  const deletion = useFileDeletion(api, search.reload);
  const files = search.files.filter((file) => !deletion.hides(file, query));
  const choice = useFileChoice(api, query, files);

  const change = (next: FileFilter) =>
    goTo(`${path}?${writeFilter(next)}`.replace(/\?$/, ""), { replace: true });
  const remove = (deleted: Parameters<typeof deletion.start>[0]) => {
    deletion.start(deleted);
    choice.clear();
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
    chosen: choice.chosen,
    onChoose: mayChange ? choice.choose : null,
    onOpen: setOpen,
  };

  return (
    <>
      <div className="title">
        <h1>Files</h1>
        <span className="line">
          <ViewSwitch view={view} onChange={show} />
          {mayChange && <UploadButton routes={routes.data?.routers ?? null} />}
        </span>
      </div>
      {routes.error !== null && <Failure error={routes.error} retry={routes.reload} />}
      {mayChange && <UploadList onUploaded={search.reload} />}
      <FileFilters filter={filter} routes={routes.data?.routers ?? []} onChange={change} />
      <ChoiceBar
        choice={choice}
        mayChooseMore={search.hasMore && choice.chosen.size >= Math.min(files.length, mostChosen)}
        onDelete={() => remove(choice.matching ?? { ids: choice.chosen })}
      />
      {search.error !== null && <Failure error={search.error} retry={search.retry} />}
      {files.length > 0 ? (
        <div className={search.isStale ? "stale" : undefined} aria-busy={search.isLoading}>
          {view === "grid" ? <FileGrid {...list} /> : <FileTable {...list} />}
        </div>
      ) : (
        <Nothing
          isLoading={search.isLoading}
          isLeaving={deletion.waitingCount > 0}
          hasFailed={search.error !== null}
          filter={filter}
        />
      )}
      {open !== null && (
        <FileDialog
          listed={open}
          onLoaded={search.replace}
          onClose={() => setOpen(null)}
          onDelete={() => remove({ ids: new Set([open.id]) })}
        />
      )}
      <UndoBar deletion={deletion} />
    </>
  );
}

interface NothingProps {
  isLoading: boolean;
  /** What was here will be deleted. */
  isLeaving: boolean;
  hasFailed: boolean;
  filter: FileFilter;
}

function Nothing(props: NothingProps) {
  if (props.hasFailed) return null;
  if (props.isLoading) return <Loading />;
  if (props.isLeaving) return <Empty title="Nothing is left here" />;
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
        Drop files or folders anywhere on this page, or upload from your application.{" "}
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
