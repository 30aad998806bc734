import { type KeyboardEvent, useEffect, useRef } from "react";
import { formatAgo, formatBytes, formatTime } from "../../format.ts";
import { Lock } from "../../parts/lock.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { type FoundFile, routeOf } from "./found-file.ts";
import { useWindowRows } from "./use-window-rows.ts";

const rowHeightPx = 44;
const loadAheadRows = 50;

export interface FileListProps {
  files: FoundFile[];
  hasMore: boolean;
  loadMore: () => void;
  chosen: ReadonlySet<string>;
  /** Null where nothing may be chosen. */
  onChoose: ((files: FoundFile[], isChosen: boolean) => void) | null;
  onOpen: (file: FoundFile) => void;
}

export function FileTable(props: FileListProps) {
  const { files, hasMore, loadMore, chosen, onChoose } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, last, beforePx, afterPx } = useWindowRows(body, files.length, rowHeightPx);
  useEffect(() => {
    if (hasMore && last >= files.length - loadAheadRows) loadMore();
  });
  return (
    <table className="files" aria-label="Files" aria-rowcount={hasMore ? -1 : files.length + 1}>
      <thead>
        <tr aria-rowindex={1}>
          {onChoose !== null && (
            <th className="tick">
              <input
                type="checkbox"
                aria-label="Choose all that are loaded"
                checked={files.length > 0 && files.every((file) => chosen.has(file.id))}
                onChange={(event) => onChoose(files, event.target.checked)}
              />
            </th>
          )}
          <th>Name</th>
          <th className="aside">Type</th>
          <th className="number">Size</th>
          <th className="aside">Route</th>
          <th className="aside">Status</th>
          <th className="aside">Created</th>
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

function FileRow({ file, index, ...props }: FileListProps & { file: FoundFile; index: number }) {
  const { chosen, onChoose } = props;
  return (
    <tr aria-rowindex={index + 2}>
      {onChoose !== null && (
        <td className="tick">
          <input
            type="checkbox"
            aria-label={`Choose ${showHidden(file.name)}`}
            checked={chosen.has(file.id)}
            onChange={(event) => onChoose([file], event.target.checked)}
          />
        </td>
      )}
      <td>
        <span className="named">
          <button
            type="button"
            className="link cut"
            title={showHidden(file.name)}
            onClick={() => props.onOpen(file)}
          >
            <SafeText text={file.name} />
          </button>
          {file.access === "private" && <Lock />}
        </span>
      </td>
      <td className="aside dim cut">
        <SafeText text={file.type} />
      </td>
      <td className="number">{formatBytes(file.size)}</td>
      <td className="aside dim cut">
        <SafeText text={routeOf(file)} />
      </td>
      <td className="aside">
        <span className={`tag ${file.status.toLowerCase()}`}>{file.status.toLowerCase()}</span>
      </td>
      <td className="aside dim cut" title={formatTime(file.createdAt)}>
        {formatAgo(file.createdAt)}
      </td>
    </tr>
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
