import { Icon } from "@upstow/kit/icon";
import { arrowDownIcon, arrowUpIcon, clockIcon } from "@upstow/kit/icons";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { formatAgo, formatBytes, formatIn, formatTime } from "../../format.ts";
import { Lock } from "../../parts/lock.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { isNotable, SelectBox, StatusTag, Thumbnail } from "./file-row-parts.tsx";
import { nextSort, type Sort } from "./file-sort.ts";
import { endOf, type FoundFile, routeOf } from "./found-file.ts";
import { useWindowRows } from "./use-window-rows.ts";

const rowHeightPx = 44;
const loadAheadRows = 50;

export interface FileListProps {
  files: FoundFile[];
  hasMore: boolean;
  loadMore: () => void;
  chosen: ReadonlySet<string>;
  onChoose: (files: FoundFile[], isChosen: boolean) => void;
  onOpen: (file: FoundFile) => void;
  sort: Sort;
  onSort: (sort: Sort) => void;
}

export function FileTable(props: FileListProps) {
  const { files, hasMore, loadMore, chosen, onChoose } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const isAllChosen = files.length > 0 && files.every((file) => chosen.has(file.id));
  const { first, last, beforePx, afterPx } = useWindowRows(body, files.length, rowHeightPx);
  useEffect(() => {
    if (hasMore && last >= files.length - loadAheadRows) loadMore();
  });
  return (
    <table className="files" aria-label="Files" aria-rowcount={hasMore ? -1 : files.length + 1}>
      <thead>
        <tr aria-rowindex={1}>
          <th className="tick">
            <label className="tick-area">
              <input
                type="checkbox"
                aria-label="Select all loaded files"
                ref={(box) => {
                  if (box !== null) box.indeterminate = chosen.size > 0 && !isAllChosen;
                }}
                checked={isAllChosen}
                onChange={(event) => onChoose(files, event.target.checked)}
              />
            </label>
          </th>
          <SortHeader {...props} field="name" label="Name" />
          <th className="type">Type</th>
          <SortHeader {...props} field="size" label="Size" className="size number" />
          <th className="route">Route</th>
          <th className="state">Status</th>
          <SortHeader {...props} field="date" label="Created" className="date" />
        </tr>
      </thead>
      <tbody ref={body} onKeyDown={moveByArrows}>
        <Gap heightPx={beforePx} />
        {files.slice(first, last).map((file, i) => (
          <FileRow key={file.id} {...props} file={file} index={first + i} />
        ))}
        <Gap heightPx={afterPx} />
      </tbody>
    </table>
  );
}

interface SortHeaderProps extends FileListProps {
  field: Sort["field"];
  label: string;
  className?: string;
}

function SortHeader({ field, label, className, sort, onSort }: SortHeaderProps) {
  const isSorted = sort.field === field;
  return (
    <th
      className={className}
      aria-sort={isSorted ? (sort.isDescending ? "descending" : "ascending") : undefined}
    >
      <button type="button" className="sort" onClick={() => onSort(nextSort(sort, field))}>
        {label}
        {isSorted && <Icon of={sort.isDescending ? arrowDownIcon : arrowUpIcon} />}
      </button>
    </th>
  );
}

function FileRow({ file, index, ...props }: FileListProps & { file: FoundFile; index: number }) {
  const { chosen, onChoose } = props;
  return (
    <tr
      aria-rowindex={index + 2}
      className={chosen.has(file.id) ? "selected" : undefined}
      onClick={({ target }) =>
        target instanceof Element && target.closest("button, input, .tick") === null && props.onOpen(file)
      }
    >
      <td className="tick">
        <SelectBox file={file} chosen={chosen} onChoose={onChoose} />
      </td>
      <td>
        <span className="named">
          <Thumbnail key={file.thumbnailUrl} file={file} className="thumb" />
          <button
            type="button"
            className="link cut"
            title={showHidden(file.name)}
            onClick={() => props.onOpen(file)}
          >
            <SafeText text={file.name} />
          </button>
          {file.access === "private" && <Lock />}
          <Marks file={file} />
        </span>
      </td>
      <td className="type dim cut" title={showHidden(file.type)}>
        <SafeText text={file.type} />
      </td>
      <td className="size number">{formatBytes(file.size)}</td>
      <td className="route dim cut" title={showHidden(routeOf(file))}>
        <SafeText text={routeOf(file)} />
      </td>
      <td className="state">
        <StatusTag {...file} />
      </td>
      <td className="date dim cut" title={formatTime(file.createdAt)}>
        {formatAgo(file.createdAt)}
      </td>
    </tr>
  );
}

/** Beside the name; on a phone below it, with the status that has no column there. */
function Marks({ file }: { file: FoundFile }) {
  const end = endOf(file);
  if (end === null && !isNotable(file)) return null;
  return (
    <span className="marks">
      {isNotable(file) && (
        <span className="state-mark">
          <StatusTag {...file} />
        </span>
      )}
      {end !== null && (
        <span className="tag warn expiry" title={formatTime(end.at)}>
          <Icon of={clockIcon} />
          <span className="word">{end.word}</span> {formatIn(end.at)}
        </span>
      )}
    </span>
  );
}

/** Stands for the rows that are not drawn. One cell, since more would make columns where a phone shows few. */
function Gap({ heightPx }: { heightPx: number }) {
  if (heightPx === 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: an empty row, which nothing focuses
    <tr className="gap" aria-hidden="true" style={{ height: heightPx }}>
      <td />
    </tr>
  );
}

function moveByArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const names = [...event.currentTarget.querySelectorAll<HTMLElement>("button.link")];
  const row = (event.target as HTMLElement).closest("tr");
  const next = names[names.findIndex((name) => row?.contains(name)) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
