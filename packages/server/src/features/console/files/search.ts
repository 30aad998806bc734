import type { Database } from "../../../db/database.ts";
import type { FileTable } from "../../../db/schema.ts";
import { invalid } from "../../../errors.ts";
import type { FairTurns } from "../../../fair-turns.ts";
import { parseMoment } from "../../../http/moment.ts";
import { firstIdAt } from "../../../ids.ts";
import { lookThrough, type Span } from "../search/look-through.ts";
import { foldCase } from "../search/text-match.ts";
import { countBy, measureBy, type Stretch, searchBy, type Terms } from "./search-queries.ts";

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

/** Who searches, and how they take turns with others. */
export interface Searcher {
  db: Database;
  turns: FairTurns;
  accountId: string;
}

/**
 * Scans the environment's files newest first, through the index that lists them. An index over the texts would slow
 * every upload and differ per database; scanning 100,000 files takes a tenth of a second without one
 * (`npm run bench -- search`). Stops when the page is full or all was seen, or else says which id to continue below.
 */
export async function searchFiles(
  searcher: Searcher,
  wanted: Stretch & { take: number },
  terms: Terms,
): Promise<{ rows: FileTable[]; scannedTo: string | null }> {
  const { db } = searcher;
  const search = searchBy(terms);
  // Without terms every file matches, and the page is full at once.
  if (Object.keys(terms).length === 0) return { rows: await db.all(search, wanted), scannedTo: null };
  const rows: FileTable[] = [];
  const scannedTo = await lookThrough(
    {
      ...searchOf(searcher, wanted, terms),
      async read(stretch) {
        const take = wanted.take - rows.length;
        rows.push(...(await db.all(search, { ...wanted, ...terms, ...stretch, take })));
        return rows.length === wanted.take;
      },
    },
    wanted,
  );
  return { rows, scannedTo };
}

/** How many match, as far as one request reads; `scannedTo` says where the next one continues. */
export async function countFiles(
  searcher: Searcher,
  wanted: Stretch,
  terms: Terms,
): Promise<{ count: number; scannedTo: string | null }> {
  const countStretch = countBy(terms);
  let count = 0;
  const scannedTo = await lookThrough(
    {
      ...searchOf(searcher, wanted, terms),
      async read(stretch) {
        count += (await searcher.db.get(countStretch, { ...wanted, ...terms, ...stretch }))?.count ?? 0;
        return false;
      },
    },
    wanted,
  );
  return { count, scannedTo };
}

function searchOf({ db, turns, accountId }: Searcher, wanted: Stretch, terms: Terms) {
  const statement = measureBy(terms);
  return {
    dialect: db.dialect,
    turns,
    accountId,
    measure: async (span: Span & { rows: number }) =>
      (await db.get(statement, { ...wanted, ...span })) ?? { id: null, count: 0, bytes: 0 },
  };
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
    ...(type === "" ? {} : { typeStart: foldCase(type) }),
    ...(name === "" ? {} : { nameText: foldCase(name) }),
    ...(metadata === "" ? {} : metadataTerms(metadata)),
  };
}

function metadataTerms(text: string): Terms {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  const anywhere = foldCase(inJson(text));
  if (name === undefined || value === undefined) return { metadataText: anywhere };
  const pairName = foldCase(`"${inJson(name.trim())}":`);
  const wanted = foldCase(inJson(value.trim()));
  return {
    pairName,
    pairAsText: `${pairName}"${wanted}"`,
    pairBeforeComma: `${pairName}${wanted},`,
    pairBeforeBrace: `${pairName}${wanted}}`,
    pairAnywhere: anywhere,
  };
}

/** As the text is written inside of a JSON string. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
