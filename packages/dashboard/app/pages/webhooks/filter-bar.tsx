import type { Router } from "@upstow/contract";
import { showHidden } from "../../parts/safe-text.tsx";
import { type DeliveryFilter, noFilter, statuses, toServerFilter } from "./delivery-filter.ts";

interface FilterBarProps {
  filter: DeliveryFilter;
  routes: Router[];
  onChange: (filter: DeliveryFilter) => void;
}

export function FilterBar({ filter, routes, onChange }: FilterBarProps) {
  const set = (change: Partial<DeliveryFilter>) => onChange({ ...filter, ...change });
  const isFiltered = Object.keys(toServerFilter(filter)).length > 0;
  return (
    <search className="fields filters-grid">
      <label>
        Status
        <select value={filter.status} onChange={(event) => set({ status: event.target.value })}>
          <option value="">Any status</option>
          {statuses.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        Route
        <select value={filter.routeSlug} onChange={(event) => set({ routeSlug: event.target.value })}>
          <option value="">All routes</option>
          {routes.map(({ slug }) => (
            <option key={slug} value={slug}>
              {showHidden(slug)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Since
        <input
          type="datetime-local"
          value={filter.since}
          onChange={(event) => set({ since: event.target.value })}
        />
      </label>
      <label>
        Until
        <input
          type="datetime-local"
          value={filter.until}
          onChange={(event) => set({ until: event.target.value })}
        />
      </label>
      <label>
        File id
        <input
          type="search"
          maxLength={100}
          value={filter.fileId}
          onChange={(event) => set({ fileId: event.target.value })}
        />
      </label>
      {isFiltered && (
        <button type="button" className="at-end" onClick={() => onChange(noFilter)}>
          Clear
        </button>
      )}
    </search>
  );
}
