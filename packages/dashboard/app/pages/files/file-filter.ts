import { toMoment } from "../../parts/moment.ts";

export interface FileFilter {
  name: string;
  type: string;
  status: string;
  routeSlug: string;
  access: string;
  metadata: string;
  /** Days, as `<input type="date">` has them. */
  from: string;
  to: string;
}

export const noFilter: FileFilter = {
  name: "",
  type: "",
  status: "",
  routeSlug: "",
  access: "",
  metadata: "",
  from: "",
  to: "",
};

const fields = Object.keys(noFilter) as (keyof FileFilter)[];

/** A folder is where one is, not a filter. */
export function isFiltered(filter: FileFilter): boolean {
  return fields.some((field) => field !== "routeSlug" && filter[field] !== "");
}

/** Where the folders are shown. */
export function isRoot(filter: FileFilter): boolean {
  return filter.routeSlug === "" && !isFiltered(filter);
}

/** The part of the filter stored in the URL, so that a search can be shared. */
export function readFilter(query: URLSearchParams): FileFilter {
  return Object.fromEntries(fields.map((field) => [field, query.get(field) ?? ""])) as unknown as FileFilter;
}

export function writeFilter(filter: FileFilter): string {
  const used = fields.filter((field) => filter[field] !== "").map((field) => [field, filter[field]]);
  return new URLSearchParams(used as [string, string][]).toString();
}

/** The server's query. Days are in the user's time zone, from the start of the first to the end of the last. */
export function toServerQuery({ from, to, ...terms }: FileFilter): string {
  const asked = new URLSearchParams(Object.entries(terms).filter(([, value]) => value.trim() !== ""));
  const [since, until] = [startOfDay(from, 0), startOfDay(to, 1)];
  if (since !== "") asked.set("since", since);
  if (until !== "") asked.set("until", until);
  return asked.toString();
}

function startOfDay(day: string, daysLater: number): string {
  const start = new Date(`${day}T00:00`);
  start.setDate(start.getDate() + daysLater);
  return toMoment(start);
}
