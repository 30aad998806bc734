import type { Database } from "../db/database.ts";
import type { FairTurns } from "../kernel/fair-turns.ts";
import type { FileFilter } from "./file-filter.ts";
import { type Budget, lookThrough, type Span } from "./search/look-through.ts";
import { countBy, type FoundFile, hasTests, measureBy, type Stretch, searchBy } from "./search-queries.ts";

/** Who searches, how they take turns with others, and how far one request may go. */
export interface Searcher {
  db: Database;
  turns: FairTurns;
  accountId: string;
  budget: Budget;
}

/** Rows read at once where some of them are dropped here. */
const candidatesAtOnce = 200;

/**
 * Scans the environment's files newest first, through the index that lists them. An index over the texts would slow
 * every upload and differ per database; scanning 100,000 files takes a tenth of a second without one
 * (`npm run bench -- search`). Stops when the page is full or all was seen, or else says which id to continue below.
 */
export async function searchFiles(
  searcher: Searcher,
  wanted: Stretch & { take: number },
  filter: FileFilter,
): Promise<{ rows: FoundFile[]; scannedTo: string | null }> {
  // Every file matches, and the page is full at once.
  if (!isSelective(filter)) return { rows: await read(searcher, wanted, filter), scannedTo: null };
  const rows: FoundFile[] = [];
  const scannedTo = await lookThrough(
    {
      ...searchOf(searcher, wanted, filter),
      async read(stretch) {
        const take = wanted.take - rows.length;
        const found = await readMatching(searcher, { ...wanted, ...stretch, take }, filter);
        rows.push(...found.rows);
        return { isEnough: rows.length === wanted.take, dropped: found.dropped };
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
  filter: FileFilter,
): Promise<{ count: number; scannedTo: string | null }> {
  const { terms, isMatch } = filter;
  const countStretch = countBy(terms);
  let count = 0;
  const scannedTo = await lookThrough(
    {
      ...searchOf(searcher, wanted, filter),
      async read(stretch) {
        const span = { ...wanted, ...stretch };
        if (isMatch === undefined) {
          count += (await searcher.db.get(countStretch, { ...span, ...terms }))?.count ?? 0;
          return { isEnough: false, dropped: 0 };
        }
        const found = await readMatching(searcher, { ...span, take: Number.POSITIVE_INFINITY }, filter);
        count += found.rows.length;
        return { isEnough: false, dropped: found.dropped + found.rows.length };
      },
    },
    wanted,
  );
  return { count, scannedTo };
}

function isSelective({ terms, isMatch }: FileFilter): boolean {
  return hasTests(terms) || isMatch !== undefined;
}

function read({ db }: Searcher, span: Stretch & { take: number }, { terms, withMetadata }: FileFilter) {
  return db.all(searchBy(terms, withMetadata), { ...span, ...terms });
}

/** The database may find more than match. */
async function readMatching(
  searcher: Searcher,
  span: Stretch & { take: number },
  filter: FileFilter,
): Promise<{ rows: FoundFile[]; dropped: number }> {
  const { isMatch } = filter;
  if (isMatch === undefined) return { rows: await read(searcher, span, filter), dropped: 0 };
  const rows: FoundFile[] = [];
  let seen = 0;
  for (let { before } = span; ; ) {
    const candidates = await read(searcher, { ...span, before, take: candidatesAtOnce }, filter);
    rows.push(...candidates.filter(isMatch));
    seen += candidates.length;
    if (rows.length >= span.take || candidates.length < candidatesAtOnce) break;
    before = candidates.at(-1)?.id ?? before;
  }
  return { rows: rows.slice(0, span.take), dropped: seen - rows.length };
}

function searchOf(
  { db, turns, accountId, budget }: Searcher,
  wanted: Stretch,
  { terms, withMetadata }: FileFilter,
) {
  const statement = measureBy(terms, withMetadata);
  return {
    dialect: db.dialect,
    turns,
    accountId,
    budget,
    measure: async (span: Span & { rows: number }) =>
      (await db.get(statement, { ...wanted, ...span })) ?? { id: null, count: 0, bytes: 0 },
  };
}
