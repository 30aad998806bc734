import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../../../db/database.ts";
import type { FileTable } from "../../../db/schema.ts";
import { invalid } from "../../../errors.ts";
import { parseMoment } from "../../../http/moment.ts";
import { firstIdAt } from "../../../ids.ts";
import { countBy, findStretchEnd, type Stretch, searchBy, type Terms } from "./search-queries.ts";

export interface SearchQuery {
  name?: string;
  type?: string;
  status?: string;
  routeSlug?: string;
  /** Text anywhere in the metadata; `name=value` is looked for as a pair too. */
  metadata?: string;
  since?: string;
  until?: string;
}

/**
 * The embedded database looks in our own thread: a few milliseconds, then other requests get their turn. PostgreSQL
 * looks in its own, and finding out where a stretch ends costs it half as much as looking.
 */
const stretchFiles = { sqlite: 10_000, postgres: 200_000 };
const filesPerCall = 200_000;

/**
 * Looks at every file of the environment, newest first, through the index that lists them. An index over the texts
 * would have to be kept by every upload and be another one for each database; looking at 100,000 files takes a tenth
 * of a second without it (`npm run bench -- search`), and beyond 200,000 the answer comes in parts.
 *
 * Stops when the page is full or all was seen, or else says up to which id it came.
 */
export async function searchFiles(
  db: Database,
  wanted: Stretch & { take: number },
  terms: Terms,
): Promise<{ rows: FileTable[]; scannedTo: string | null }> {
  const search = searchBy(terms);
  // Without terms every file matches, and the page is full at once.
  if (Object.keys(terms).length === 0) return { rows: await db.all(search, wanted), scannedTo: null };
  const rows: FileTable[] = [];
  let { before } = wanted;
  const files = stretchFiles[db.dialect];
  for (let seen = 0; seen < filesPerCall; seen += files) {
    const end = await db.get(findStretchEnd, { ...wanted, before, skip: files - 1 });
    const from = end?.id ?? wanted.from;
    const take = wanted.take - rows.length;
    rows.push(...(await db.all(search, { ...wanted, ...terms, before, from, take })));
    if (end === null || rows.length === wanted.take) return { rows, scannedTo: null };
    before = from;
    await nextTurn();
  }
  return { rows, scannedTo: before };
}

/** All of them, stretch by stretch, however many there are. */
export async function countFiles(db: Database, wanted: Stretch, terms: Terms): Promise<number> {
  const countStretch = countBy(terms);
  const skip = stretchFiles[db.dialect] - 1;
  let { before } = wanted;
  for (let total = 0; ; ) {
    const end = await db.get(findStretchEnd, { ...wanted, before, skip });
    const stretch = { ...wanted, ...terms, before, from: end?.id ?? wanted.from };
    total += (await db.get(countStretch, stretch))?.count ?? 0;
    if (end === null) return total;
    before = end.id;
    await nextTurn();
  }
}

/** Ids begin with the time at which they were made. */
export function boundsOf(query: SearchQuery, before: string): { from: string; before: string } {
  const until = query.until === undefined ? before : firstIdAt(parseMoment("until", query.until));
  const from = query.since === undefined ? "" : firstIdAt(parseMoment("since", query.since));
  if (query.since !== undefined && query.until !== undefined && from > until) {
    throw invalid("since", "must not be later than until");
  }
  return { from, before: until < before ? until : before };
}

export function termsOf(query: SearchQuery): Terms {
  const { name = "", type = "", status = "", routeSlug = "", metadata = "" } = query;
  return {
    ...(status === "" ? {} : { status }),
    ...(routeSlug === "" ? {} : { routeSlug }),
    ...(type === "" ? {} : { typePattern: `${literally(type)}%` }),
    ...(name === "" ? {} : { namePattern: `%${literally(name)}%` }),
    ...(metadata === "" ? {} : metadataTerms(metadata)),
  };
}

function metadataTerms(text: string): Terms {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  const anywhere = `%${literally(inJson(text))}%`;
  if (name === undefined || value === undefined) return { metadataPattern: anywhere };
  const start = `%"${literally(inJson(name.trim()))}":`;
  const wanted = literally(inJson(value.trim()));
  return {
    pairPattern: `${start}%${wanted}%`,
    pairPatternText: `${start}"${wanted}"%`,
    pairPatternMiddle: `${start}${wanted},%`,
    pairPatternLast: `${start}${wanted}}%`,
    pairPatternAnywhere: anywhere,
  };
}

/** As the text is written inside of a JSON string. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

export function literally(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll(/[!%_]/g, "!$&");
}
