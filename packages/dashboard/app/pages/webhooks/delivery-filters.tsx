import type { Router } from "@upstow/contract";
import { Choice, RouteChoice } from "../../parts/choice.tsx";
import { Field } from "../../parts/fields.tsx";
import { type DeliveryFilter, noFilter, statuses, toServerFilter } from "./delivery-filter.ts";

interface DeliveryFiltersProps {
  filter: DeliveryFilter;
  routes: Router[];
  onChange: (filter: DeliveryFilter) => void;
}

export function DeliveryFilters({ filter, routes, onChange }: DeliveryFiltersProps) {
  const bind = (name: keyof DeliveryFilter) => ({
    value: filter[name],
    required: false,
    onChange: (value: string) => onChange({ ...filter, [name]: value }),
  });
  const isFiltered = Object.keys(toServerFilter(filter)).length > 0;
  return (
    <search className="fields filters-grid">
      <Choice label="Status" any="Any status" options={statuses} {...bind("status")} />
      <RouteChoice routes={routes} {...bind("routeSlug")} />
      <Field label="Since" type="datetime-local" {...bind("since")} />
      <Field label="Until" type="datetime-local" {...bind("until")} />
      <Field label="File id" type="search" maxLength={100} {...bind("fileId")} />
      {isFiltered && (
        <button type="button" className="at-end" onClick={() => onChange(noFilter)}>
          Clear
        </button>
      )}
    </search>
  );
}
