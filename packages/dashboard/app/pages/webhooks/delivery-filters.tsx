import type { Router } from "@upstow/contract";
import { Choice, RouteChoice } from "../../parts/choice.tsx";
import { Field } from "../../parts/fields.tsx";
import { Filters, SearchBox } from "../../parts/filters.tsx";
import { lastMoment } from "../../parts/moment.ts";
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
    <Filters
      onClear={isFiltered ? () => onChange(noFilter) : undefined}
      more={{
        label: "Time",
        isOpen: filter.since !== "" || filter.until !== "",
        fields: (
          <>
            <Field label="Since" type="datetime-local" max={lastMoment} {...bind("since")} />
            <Field label="Until" type="datetime-local" max={lastMoment} {...bind("until")} />
          </>
        ),
      }}
    >
      <SearchBox label="Search by file" placeholder="Search by file name or ID" {...bind("text")} />
      <Choice isBare label="Status" any="Any status" options={statuses} {...bind("status")} />
      <RouteChoice isBare routes={routes} {...bind("routeSlug")} />
    </Filters>
  );
}
