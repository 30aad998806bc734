import { type Router, SEARCH_TERM_MAX } from "@upstow/contract";
import { Choice, RouteChoice } from "../../parts/choice.tsx";
import { Field } from "../../parts/fields.tsx";
import { Filters, SearchBox } from "../../parts/filters.tsx";
import { lastDay } from "../../parts/moment.ts";
import { SafeText } from "../../parts/safe-text.tsx";
import { type FileFilter, isFiltered, noFilter } from "./file-filter.ts";
import { readSort, type Sort, writeSort } from "./file-sort.ts";

const types = [
  ["image/", "Images"],
  ["video/", "Video"],
  ["audio/", "Audio"],
  ["text/", "Text"],
  ["application/pdf", "PDF"],
  ["application/", "Other applications"],
] as const;
const statuses = [
  ["UPLOADED", "Uploaded"],
  ["UPLOADING", "Uploading"],
  ["FAILED", "Failed"],
] as const;

const accessLevels = [
  ["public", "Public"],
  ["private", "Private"],
] as const;

const orders = [
  ["date", "Oldest first"],
  ["name", "Name A to Z"],
  ["-name", "Name Z to A"],
  ["-size", "Largest first"],
  ["size", "Smallest first"],
] as const;

interface FileFiltersProps {
  filter: FileFilter;
  sort: Sort;
  onSort: (sort: Sort) => void;
  routes: Router[];
  onChange: (filter: FileFilter) => void;
}

export function FileFilters({ filter, sort, onSort, routes, onChange }: FileFiltersProps) {
  const bind = (name: keyof FileFilter) => ({
    value: filter[name],
    required: false,
    onChange: (value: string) => onChange({ ...filter, [name]: value }),
  });
  const { routeSlug, access, metadata, from, to } = filter;
  const hasMore = [access, metadata, from, to].some((value) => value !== "");
  return (
    <Filters
      onClear={isFiltered(filter) ? () => onChange({ ...noFilter, routeSlug }) : undefined}
      more={{
        label: "Route, access, date, metadata",
        isOpen: hasMore,
        fields: (
          <>
            <RouteChoice routes={routes} {...bind("routeSlug")} />
            <Choice label="Access" any="Any access" options={accessLevels} {...bind("access")} />
            <Field label="From" type="date" max={to || lastDay} {...bind("from")} />
            <Field label="To" type="date" min={from} max={lastDay} {...bind("to")} />
            <div className="wide">
              <Field
                label="Metadata"
                type="search"
                placeholder="Text or name=value"
                maxLength={SEARCH_TERM_MAX}
                {...bind("metadata")}
              />
            </div>
          </>
        ),
      }}
    >
      <SearchBox label="Search by name" {...bind("name")} />
      <Choice isBare label="Type" any="All types" options={types} {...bind("type")} />
      <Choice isBare label="Status" any="Any status" options={statuses} {...bind("status")} />
      <Choice
        isBare
        label="Order"
        any="Newest first"
        options={orders}
        value={writeSort(sort)}
        onChange={(order) => onSort(readSort(order))}
      />
    </Filters>
  );
}

export function FilterNote({ filter }: { filter: FileFilter }) {
  return (
    <p>
      {filter.name === "" ? (
        "Change or clear the filters."
      ) : (
        <>
          No file name contains “<SafeText text={filter.name} />
          ”.
        </>
      )}
    </p>
  );
}
