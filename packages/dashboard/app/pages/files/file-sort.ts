import type { FoundFile } from "./found-file.ts";

export const sortFields = ["name", "size", "date"] as const;
export interface Sort {
  field: (typeof sortFields)[number];
  isDescending: boolean;
}

/** As the server lists them unless asked for another order. */
export const newestFirst: Sort = { field: "date", isDescending: true };

/** As the URL has it: "name", or "-size" where the largest come first. Nothing for the server's order. */
export function readSort(text: string | null): Sort {
  const field = sortFields.find((name) => name === text?.replace(/^-/, ""));
  return field === undefined ? newestFirst : { field, isDescending: text?.startsWith("-") === true };
}

export function writeSort(sort: Sort): string {
  return isServersOrder(sort) ? "" : `${sort.isDescending ? "-" : ""}${sort.field}`;
}

export function isServersOrder(sort: Sort): boolean {
  return sort.field === newestFirst.field && sort.isDescending;
}

const natural = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
/** As many as one page of the list has. */
export const pageSize = 100;

/** The server compares names letter by letter. A list that is one page at most is sorted as people do: 2 before 10. */
export function sortAsPeopleDo(files: FoundFile[], sort: Sort, hasMore: boolean): FoundFile[] {
  if (sort.field !== "name" || hasMore || files.length > pageSize) return files;
  const sign = sort.isDescending ? -1 : 1;
  return files.toSorted((a, b) => sign * natural.compare(a.name, b.name));
}

/** A second click on a column turns it around. */
export function nextSort(sort: Sort, field: Sort["field"]): Sort {
  if (sort.field === field) return { field, isDescending: !sort.isDescending };
  return { field, isDescending: field !== "name" };
}
