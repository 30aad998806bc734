import type { Router } from "@upstow/contract";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { type FileFilter, isFiltered, noFilter } from "./file-filter.ts";

const types: [type: string, label: string][] = [
  ["image/", "Images"],
  ["video/", "Video"],
  ["audio/", "Audio"],
  ["text/", "Text"],
  ["application/pdf", "PDF"],
  ["application/", "Other applications"],
];
const statuses = ["UPLOADED", "UPLOADING", "FAILED"];

interface FilterBarProps {
  filter: FileFilter;
  routes: Router[];
  onChange: (filter: FileFilter) => void;
}

export function FilterBar({ filter, routes, onChange }: FilterBarProps) {
  const set = (change: Partial<FileFilter>) => onChange({ ...filter, ...change });
  const hasMore = [filter.routeSlug, filter.metadata, filter.from, filter.to].some((value) => value !== "");
  return (
    <search className="filters">
      <input
        type="search"
        aria-label="Search by name"
        placeholder="Search by name"
        maxLength={255}
        value={filter.name}
        onChange={(event) => set({ name: event.target.value })}
      />
      <select aria-label="Type" value={filter.type} onChange={(event) => set({ type: event.target.value })}>
        <option value="">All types</option>
        {types.map(([type, label]) => (
          <option key={type} value={type}>
            {label}
          </option>
        ))}
      </select>
      <select
        aria-label="Status"
        value={filter.status}
        onChange={(event) => set({ status: event.target.value })}
      >
        <option value="">Any status</option>
        {statuses.map((status) => (
          <option key={status} value={status}>
            {status.toLowerCase()}
          </option>
        ))}
      </select>
      {isFiltered(filter) && (
        <button type="button" onClick={() => onChange(noFilter)}>
          Clear
        </button>
      )}
      <details className="more-filters" open={hasMore || undefined}>
        <summary>Route, date, metadata</summary>
        <div className="fields">
          <label>
            Route
            <select value={filter.routeSlug} onChange={(event) => set({ routeSlug: event.target.value })}>
              <option value="">All routes</option>
              {routes.map(({ slug }) => (
                <option key={slug} value={slug}>
                  {showHidden(slug)}
                </option>
              ))}
              {filter.routeSlug !== "" && !routes.some(({ slug }) => slug === filter.routeSlug) && (
                <option value={filter.routeSlug}>{showHidden(filter.routeSlug)}</option>
              )}
            </select>
          </label>
          <label>
            From
            <input
              type="date"
              value={filter.from}
              max={filter.to}
              onChange={(event) => set({ from: event.target.value })}
            />
          </label>
          <label>
            To
            <input
              type="date"
              value={filter.to}
              min={filter.from}
              onChange={(event) => set({ to: event.target.value })}
            />
          </label>
          <label className="wide">
            Metadata
            <input
              type="search"
              placeholder="any text, or name=value"
              maxLength={255}
              value={filter.metadata}
              onChange={(event) => set({ metadata: event.target.value })}
            />
          </label>
        </div>
      </details>
    </search>
  );
}

export function FilterNote({ filter }: { filter: FileFilter }) {
  return (
    <p>
      {filter.name === "" ? (
        "Try another type, status, route, date or metadata."
      ) : (
        <>
          No file’s name contains “<SafeText text={filter.name} />” here.
        </>
      )}
    </p>
  );
}
