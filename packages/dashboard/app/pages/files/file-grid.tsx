import { Icon } from "@upstow/kit/icon";
import { clockIcon } from "@upstow/kit/icons";
import { useEffect, useRef, useState } from "react";
import { formatBytes, formatIn, formatTime } from "../../format.ts";
import { Lock } from "../../parts/lock.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { isNotable, SelectBox, statusOf, Thumbnail } from "./file-row-parts.tsx";
import type { FileListProps } from "./file-table.tsx";
import { endOf, type FoundFile } from "./found-file.ts";
import { useWindowRows } from "./use-window-rows.ts";

const tilePx = 168;
const rowHeightPx = 236;
const loadAheadRows = 6;

/** The same files with their pictures; as in the table, only rows near the screen are drawn. */
export function FileGrid(props: FileListProps) {
  const { files, hasMore, loadMore } = props;
  const frame = useRef<HTMLDivElement>(null);
  const columns = useColumns(frame);
  const rows = Math.ceil(files.length / columns);
  const { first, last, beforePx, afterPx } = useWindowRows(frame, rows, rowHeightPx);
  useEffect(() => {
    if (hasMore && last >= rows - loadAheadRows) loadMore();
  });
  return (
    <div ref={frame}>
      <ul
        className="grid"
        aria-label="Files"
        style={{
          paddingTop: beforePx,
          paddingBottom: afterPx,
          gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
        }}
      >
        {files.slice(first * columns, last * columns).map((file) => (
          <Tile key={file.id} {...props} file={file} />
        ))}
      </ul>
    </div>
  );
}

function Tile({ file, chosen, onChoose, onOpen }: FileListProps & { file: FoundFile }) {
  const end = endOf(file);
  const facts = [formatBytes(file.size), ...(isNotable(file) ? [statusOf(file)] : [])];
  return (
    <li className={chosen.has(file.id) ? "tile selected" : "tile"}>
      <button type="button" className="picture" tabIndex={-1} aria-hidden="true" onClick={() => onOpen(file)}>
        <Thumbnail key={file.thumbnailUrl} file={file} className="kind" />
      </button>
      <span className="line">
        <SelectBox file={file} chosen={chosen} onChoose={onChoose} />
        <button type="button" className="link cut" title={showHidden(file.name)} onClick={() => onOpen(file)}>
          <SafeText text={file.name} />
        </button>
        {file.access === "private" && <Lock />}
      </span>
      <small className="cut">
        {/* There is room for two facts, of which the expiry is one. */}
        {(end === null ? facts : facts.slice(-1)).join(" · ")}
        {end !== null && (
          <span title={formatTime(end.at)}>
            {" · "}
            <Icon of={clockIcon} />
            <span className="visually-hidden">{end.word}</span> {formatIn(end.at)}
          </span>
        )}
      </small>
    </li>
  );
}

function useColumns(frame: React.RefObject<HTMLElement | null>): number {
  const [columns, setColumns] = useState(4);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() =>
      setColumns(Math.max(2, Math.floor(element.clientWidth / tilePx))),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  return columns;
}
