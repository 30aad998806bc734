import { crc32 } from "node:zlib";
import { invalid } from "../../kernel/errors.ts";
import { isId } from "../../kernel/ids.ts";
import type { FileFilter } from "../file-filter.ts";
import { readMatching, type Searcher, searchOf } from "../list-files.ts";
import { type Direction, foldCase, lookThrough } from "../look-through.ts";
import type { FoundFile, IdStretch, Terms } from "./queries.ts";

export interface Order {
  by: "name" | "size";
  isDescending: boolean;
}

/** A file's place in an order: ids decide between equal values. */
interface Place {
  value: string | number;
  id: string;
}

/** Where the next page begins. Later pages scan no further than the first one did. */
export interface SortedCursor extends Place {
  /** The last file that was scanned; empty if all were. */
  scannedTo: string;
}

/**
 * A page of files by name or size. No index has them in that order, because it would slow every upload: this scans them
 * like any search and keeps the first ones. `scannedTo` is the last one that the budget allowed, null if all were scanned.
 */
export async function searchSorted(
  searcher: Searcher,
  wanted: IdStretch & { take: number },
  filter: FileFilter,
  order: Order,
  after: Place | null,
): Promise<{ rows: FoundFile[]; scannedTo: string | null }> {
  const { isMatch = () => true } = filter;
  const inOrder = compareBy(order);
  // Names often count up, as photos do. Read in the same direction, few files displace those that were kept.
  const direction = directionOf(order);
  let rows: FoundFile[] = [];
  const scannedTo = await lookThrough(
    {
      ...searchOf(searcher, wanted, filter, direction),
      async read(stretch) {
        // Once the page is full, only files that belong before its last one are of interest.
        const worst = rows.length === wanted.take ? rows.at(-1) : undefined;
        const end = worst === undefined ? null : placeOf(worst, order.by);
        const terms = { ...filter.terms, ...termsBetween(order, after, end) };
        const all = { ...wanted, ...stretch, take: Number.POSITIVE_INFINITY };
        const found = await readMatching(searcher, all, { ...filter, terms, isMatch }, direction);
        const seen = rows.length + found.rows.length;
        rows = [...rows, ...found.rows].toSorted(inOrder).slice(0, wanted.take);
        return { isEnough: false, dropped: found.dropped + seen - rows.length };
      },
    },
    wanted,
  );
  return { rows, scannedTo };
}

export const directionOf = ({ isDescending }: Order): Direction => (isDescending ? "desc" : "asc");

/** As the database compares them: names by their bytes, with A to Z as a to z. */
function placeOf(file: FoundFile, by: Order["by"]): Place {
  return { value: by === "size" ? file.size_bytes : foldCase(file.name), id: file.id };
}

function compareBy({ by, isDescending }: Order): (a: FoundFile, b: FoundFile) => number {
  const compare = (a: Place, b: Place) =>
    (typeof a.value === "number" && typeof b.value === "number"
      ? a.value - b.value
      : Buffer.compare(Buffer.from(String(a.value)), Buffer.from(String(b.value)))) || (a.id < b.id ? -1 : 1);
  return (a, b) => compare(placeOf(a, by), placeOf(b, by)) * (isDescending ? -1 : 1);
}

function termsBetween({ by, isDescending }: Order, first: Place | null, last: Place | null): Terms {
  const [low, high] = isDescending ? [last, first] : [first, last];
  return {
    ...(low === null ? {} : { [`${by}After`]: low.value, idAfter: low.id }),
    ...(high === null ? {} : { [`${by}Before`]: high.value, idBefore: high.id }),
  };
}

export function encodeSortedCursor(last: FoundFile, { by }: Order, scannedTo: string): string {
  const { value, id } = placeOf(last, by);
  const text = `${by}:${scannedTo}:${id}:${value}`;
  return Buffer.from(`${crc32(text).toString(36)}:${text}`).toString("base64url");
}

export function decodeSortedCursor(cursor: string, { by }: Order): SortedCursor {
  const parts = /^(\w+):((\w+):(\w*):(\w+):([^\0]*))$/.exec(Buffer.from(cursor, "base64url").toString());
  const [, sum, text = "", order, scannedTo = "", id = "", name = ""] = parts ?? [];
  const value = by === "size" ? Number(name) : name;
  const isWhole = sum === crc32(text).toString(36) && order === by;
  const isPlace = isId(id) && (scannedTo === "" || isId(scannedTo));
  if (!isWhole || !isPlace || (by === "size" && !Number.isSafeInteger(value)))
    throw invalid("cursor", "is damaged; use nextCursor as it was returned");
  return { scannedTo, id, value };
}
