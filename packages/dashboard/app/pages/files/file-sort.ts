import type { FoundFile } from "./found-file.ts";

export const sortFields = ["name", "size", "date"] as const;
export interface Sort {
  field: (typeof sortFields)[number];
  isDescending: boolean;
}

/** As the server lists them, at no cost for any number of files. */
export const newestFirst: Sort = { field: "date", isDescending: true };

/** As the URL has it: "name", or "-size" where the largest come first. Nothing for the server's order. */
export function readSort(text: string | null): Sort {
  const field = sortFields.find((name) => name === text?.replace(/^-/, ""));
  return field === undefined ? newestFirst : { field, isDescending: text?.startsWith("-") === true };
}

export function writeSort(sort: Sort): string {
  return isServersOrder(sort) ? "" : `${sort.isDescending ? "-" : ""}${sort.field}`;
}

/** There is no index by name or size, which would slow every upload: so many are loaded and sorted here. */
export const mostSorted = 2_000;

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const comparers: Record<Sort["field"], (a: FoundFile, b: FoundFile) => number> = {
  name: (a, b) => collator.compare(a.name, b.name),
  size: (a, b) => a.size - b.size,
  date: (a, b) => (a.id < b.id ? -1 : 1),
};

export function isServersOrder(sort: Sort): boolean {
  return sort.field === newestFirst.field && sort.isDescending;
}

export function sortFiles(files: FoundFile[], sort: Sort): FoundFile[] {
  if (isServersOrder(sort)) return files;
  const compare = comparers[sort.field];
  return files.toSorted((a, b) => (sort.isDescending ? compare(b, a) : compare(a, b)));
}

/** A second click on a column turns it around. */
export function nextSort(sort: Sort, field: Sort["field"]): Sort {
  if (sort.field === field) return { field, isDescending: !sort.isDescending };
  return { field, isDescending: field !== "name" };
}
