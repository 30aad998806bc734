import type { Router } from "@upstow/contract";
import { Icon } from "@upstow/kit/icon";
import { trashIcon } from "@upstow/kit/icons";
import { useState } from "react";
import { formatTime } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { SafeText } from "../../parts/safe-text.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { BulkDialog, type BulkTask } from "./bulk-dialog.tsx";
import type { Selection } from "./change-many.ts";
import { ChoiceBar } from "./choice-bar.tsx";
import { downloadFiles, downloadMatching } from "./download.ts";
import { type FileFilter, isFiltered, isRoot, noFilter, toServerQuery } from "./file-filter.ts";
import { FileFilters, FilterNote } from "./file-filters.tsx";
import { FileGrid } from "./file-grid.tsx";
import { FilePanel } from "./file-panel.tsx";
import { pageSize, sortAsPeopleDo, writeSort } from "./file-sort.ts";
import { FileTable } from "./file-table.tsx";
import { Breadcrumbs, FolderList, type Folders } from "./folders.tsx";
import { MoreWays } from "./more-ways.tsx";
import { UndoBar } from "./undo-bar.tsx";
import { UploadButton } from "./upload-button.tsx";
import { UploadList } from "./upload-list.tsx";
import { mostChosen, useFileChoice } from "./use-file-choice.ts";
import { useFileDeletion } from "./use-file-deletion.ts";
import { useFileSearch } from "./use-file-search.ts";
import { useFilesAddress } from "./use-files-address.ts";

type ChangeTask = Exclude<BulkTask, "download">;
const views = ["list", "grid"] as const;
type ViewName = (typeof views)[number];

export default function Files() {
  const { api, liveApi, project, mayChange } = useWorkspace();
  const { openId, filter, sort, change: changeFilter, open, close, ...address } = useFilesAddress();
  const [view, setView] = useState(readView);
  const [change, setChange] = useState<{ task: ChangeTask; selection: Selection } | null>(null);
  const { error, run } = useAction();
  const routes = useLoad<{ routers: Router[] }>(`${liveApi}/projects/${project.id}/routers`);
  const known = routes.data?.routers ?? [];
  const tally = useLoad<Folders>(`${api}/folders`);
  const query = toServerQuery(filter);
  const order = writeSort(sort);
  const search = useFileSearch(
    [`${api}/search?limit=${pageSize}`, query, order === "" ? "" : `sort=${order}`].filter(Boolean).join("&"),
  );
  const reload = () => {
    search.reload();
    tally.reload();
  };
  const deletion = useFileDeletion(api, { onDeleted: tally.reload, onMatchingDeleted: search.reload });
  const found = search.files.filter((file) => !deletion.hides(file, query));
  const files = sortAsPeopleDo(found, sort, search.hasMore);
  const choice = useFileChoice(api, query, files);

  const remove = (deleted: Parameters<typeof deletion.start>[0]) => {
    deletion.start(deleted);
    choice.clear();
    close();
  };
  const show = (next: ViewName) => {
    setView(next);
    localStorage.setItem("upstow-files-view", next);
  };
  const selected = files.filter((file) => choice.chosen.has(file.id));
  const { matching } = choice;
  const download = async () =>
    matching === null ? downloadFiles(api, selected, mayChange) : downloadMatching(api, matching);
  const start = (task: BulkTask) => {
    if (task === "download") void run(download);
    else setChange({ task, selection: matching ?? { ids: selected.map((file) => file.id) } });
  };
  const list = {
    files,
    hasMore: search.hasMore,
    loadMore: search.loadMore,
    chosen: choice.chosen,
    onChoose: choice.choose,
    onOpen: open,
    sort,
    onSort: address.changeSort,
  };
  const View = view === "grid" ? FileGrid : FileTable;
  const panel = openId !== undefined && (
    <FilePanel
      id={openId}
      files={files}
      onOpen={(file) => open(file, true)}
      onLoaded={search.replace}
      onClose={close}
      onDelete={() => remove({ ids: new Set([openId]) })}
    />
  );

  const heading = <Breadcrumbs slug={filter.routeSlug} tally={tally} rootUrl={address.urlOfFolder("")} />;

  // Folders and buttons depend on the routes: the page is shown once with them, and nothing moves later.
  if (routes.data === null && routes.error === null) {
    return (
      <>
        <div className="title">{heading}</div>
        <Loading />
        {panel}
      </>
    );
  }
  return (
    <>
      <div className="title">
        {heading}
        <Tools
          // A folder is the route that is offered for uploads first.
          key={filter.routeSlug}
          folder={filter.routeSlug}
          view={view}
          onView={show}
          routes={routes.data === null ? null : known}
          onAdded={reload}
        />
      </div>
      {routes.error !== null && <Failure error={routes.error} retry={routes.reload} />}
      {mayChange && <UploadList onUploaded={reload} />}
      <FileFilters
        filter={filter}
        sort={sort}
        onSort={address.changeSort}
        routes={known}
        onChange={changeFilter}
      />
      {isRoot(filter) && <FolderList routes={known} tally={tally} urlOf={address.urlOfFolder} />}
      <ChoiceBar
        choice={choice}
        mayChooseMore={search.hasMore && choice.chosen.size >= Math.min(files.length, mostChosen)}
        mayChange={mayChange}
        onDelete={() => remove(matching ?? { ids: choice.chosen })}
        onTask={start}
      />
      {search.error !== null && <Failure error={search.error} retry={search.retry} />}
      {error !== null && <Failure error={error} />}
      {search.sortedTo !== null && (
        <p className="dim">
          Too many files to sort at once. This list has those created {sort.isDescending ? "after" : "before"}{" "}
          {formatTime(search.sortedTo)}. Narrow the search to sort the others.
        </p>
      )}
      {files.length > 0 && (
        <div className={search.isStale ? "frame stale" : "frame"} aria-busy={search.isLoading}>
          <View {...list} />
        </div>
      )}
      {files.length === 0 && (
        <Nothing
          isLoading={search.isLoading}
          isLeaving={deletion.waiting !== null}
          hasFailed={search.error !== null}
          filter={filter}
          onClear={() => changeFilter({ ...noFilter, routeSlug: filter.routeSlug })}
        />
      )}
      {panel}
      {change !== null && (
        <BulkDialog
          {...change}
          onDone={() => {
            search.reload();
            // Changed files may no longer match.
            if (matching !== null) choice.clear();
          }}
          onClose={() => setChange(null)}
        />
      )}
      <UndoBar deletion={deletion} files={search.files} />
    </>
  );
}

interface ToolsProps {
  folder: string;
  view: ViewName;
  onView: (view: ViewName) => void;
  routes: Router[] | null;
  onAdded: () => void;
}

function Tools({ folder, view, onView, routes, onAdded }: ToolsProps) {
  const { mayChange, urlOf } = useWorkspace();
  return (
    <span className="line files-tools">
      <Link className="button" to={urlOf("trash")}>
        <Icon of={trashIcon} /> <span className="word">Trash</span>
      </Link>
      <ViewSwitch view={view} onChange={onView} />
      {mayChange && <UploadButton routes={routes} folder={folder} />}
      {mayChange && <MoreWays routes={routes ?? []} onAdded={onAdded} />}
    </span>
  );
}

interface NothingProps {
  isLoading: boolean;
  /** All files shown are about to be deleted. */
  isLeaving: boolean;
  hasFailed: boolean;
  filter: FileFilter;
  onClear: () => void;
}

function Nothing(props: NothingProps) {
  if (props.hasFailed) return null;
  if (props.isLoading) return <Loading />;
  if (props.isLeaving) return <Empty title="No files left" />;
  if (isFiltered(props.filter)) {
    return (
      <Empty title="No matching files">
        <FilterNote filter={props.filter} />
        <button type="button" onClick={props.onClear}>
          Show all files
        </button>
      </Empty>
    );
  }
  if (props.filter.routeSlug !== "") {
    return (
      <Empty title="This folder is empty">
        <p>
          Drop files anywhere on this page, or upload from your application to the route “
          <SafeText text={props.filter.routeSlug} />
          ”.
        </p>
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

function ViewSwitch({ view, onChange }: { view: ViewName; onChange: (view: ViewName) => void }) {
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

function readView(): ViewName {
  return localStorage.getItem("upstow-files-view") === "grid" ? "grid" : "list";
}
