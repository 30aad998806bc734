import type { FileFilter } from "./file-filter.ts";
import { type Searcher, searchOf } from "./list-files.ts";
import { lookThrough } from "./look-through.ts";
import { type IdStretch, tallyRoutes } from "./search/queries.ts";

export interface RouteTally {
  slug: string;
  files: number;
  /** Of uploaded files. */
  bytes: number;
}

/** Files per route among those that one request may read, newest first, and whether those are all. */
export async function tallyFiles(
  searcher: Searcher,
  wanted: IdStretch,
): Promise<{ routes: RouteTally[]; isWhole: boolean }> {
  const routes = new Map<string, RouteTally>();
  const all: FileFilter = { terms: {}, withMetadata: false };
  const scannedTo = await lookThrough(
    {
      ...searchOf(searcher, wanted, all),
      async read(stretch) {
        for (const { slug, files, bytes } of await searcher.db.all(tallyRoutes, { ...wanted, ...stretch })) {
          const before = routes.get(slug);
          routes.set(slug, {
            slug,
            files: files + (before?.files ?? 0),
            bytes: bytes + (before?.bytes ?? 0),
          });
        }
        return { isEnough: false, dropped: 0 };
      },
    },
    wanted,
  );
  return { routes: [...routes.values()], isWhole: scannedTo === null };
}
