import { ARCHIVE_BYTES_MAX, ARCHIVE_FOUND_MAX, PageQuery, Type } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import type { FileFilter } from "../../files/file-filter.ts";
import { countFiles, type Searcher, searchFiles } from "../../files/list-files.ts";
import { dashboardBudget } from "../../files/look-through.ts";
import type { FoundFile } from "../../files/queries.ts";
import { boundsOf, encodeCursor, startPage } from "../../http/paging.ts";
import { type ApiApp, signalGone, withAuthor } from "../../http/request-context.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { admitSearch } from "../../kernel/fair-turns.ts";
import { firstIdAt } from "../../kernel/ids.ts";
import { createArchive, spendArchive } from "./archive.ts";
import { ChangeBody, changeMatching } from "./change-files.ts";
import { deleteMatching } from "./delete-chosen.ts";
import { searchTerms, toFilter } from "./search-terms.ts";

const id = Type.String({ minLength: 26, maxLength: 26, pattern: "^[0-9a-hjkmnp-tv-z]{26}$" });
const CountQuery = Type.Object({ ...searchTerms, cursor: PageQuery.properties.cursor });
/** Below `before`: what was uploaded after the count is left alone. */
const FoundBody = Type.Object({ ...searchTerms, before: id });
const ChangeFoundBody = Type.Object({ ...FoundBody.properties, change: ChangeBody });

/** What is done with all files that a search finds, loaded in the page or not. */
export function matchingFileRoutes(app: ApiApp, deps: Deps): void {
  const { db, turns } = deps;
  const searcherOf = ({ accountId }: Actor): Searcher => ({ db, turns, accountId, budget: dashboardBudget });
  const admit = (actor: Actor) => {
    admitSearch(turns, actor.accountId);
    return searcherOf(actor);
  };

  /** `before` excludes later uploads from what is done with the counted files. A long count continues with `cursor`. */
  app.get("/search/count", { schema: { querystring: CountQuery } }, async ({ actor, query }) => {
    const { projectId, environment } = actor;
    const now = deps.now();
    const before = query.cursor === undefined ? firstIdAt(now + 1) : startPage(query).before;
    const wanted = { projectId, environment, ...boundsOf(query, before), now };
    const { count, bytes, scannedTo } = await countFiles(admit(actor), wanted, toFilter(query));
    const nextCursor = scannedTo === null ? null : encodeCursor(scannedTo);
    return { count, bytes, before, nextCursor, hasMore: scannedTo !== null };
  });

  const stop = new AbortController();
  app.addHook("preClose", async () => stop.abort());
  app.post("/search/delete", { schema: { body: FoundBody }, config: { isLarge: true } }, async (request) => {
    const { actor, body } = request;
    const own = withAuthor(deps, request);
    const bounds = boundsOf(body, body.before);
    return deleteMatching(own, searcherOf(actor), actor, bounds, toFilter(body), stop.signal);
  });

  app.post(
    "/search/change",
    { schema: { body: ChangeFoundBody }, config: { isLarge: true } },
    async (request) => {
      const { actor, body } = request;
      const own = withAuthor(deps, request);
      const bounds = boundsOf(body, body.before);
      return changeMatching(own, admit(actor), actor, bounds, toFilter(body), body.change);
    },
  );

  app.get("/search/archive", { schema: { querystring: FoundBody } }, async ({ actor, query }, reply) => {
    await spendArchive(deps, actor);
    const { projectId, environment } = actor;
    const wanted = { projectId, environment, ...boundsOf(query, query.before), now: deps.now() };
    const files = await collect(admit(actor), wanted, toFilter(query));
    if (files.length === 0) throw notFound("File");
    const archive = createArchive(deps, files, 0, signalGone(reply.raw));
    return reply.headers(archive.headers).send(archive.body);
  });
}

const batchSize = 500;

/** All of them, in turns with other searches; throws once they are more than an archive holds. */
async function collect(
  searcher: Searcher,
  { before, ...span }: Parameters<typeof countFiles>[1],
  filter: FileFilter,
): Promise<FoundFile[]> {
  const files: FoundFile[] = [];
  let bytes = 0;
  for (let next: string | null = before; next !== null; ) {
    const wanted = { ...span, before: next, take: batchSize };
    const { rows, scannedTo } = await searchFiles(searcher, wanted, { ...filter, withImage: false });
    files.push(...rows);
    bytes += rows.reduce((sum, file) => sum + file.size_bytes, 0);
    if (files.length > ARCHIVE_FOUND_MAX) throw tooLarge(`${ARCHIVE_FOUND_MAX} files`);
    if (bytes > ARCHIVE_BYTES_MAX) throw tooLarge(`${ARCHIVE_BYTES_MAX} bytes`);
    next = rows.length === batchSize ? (rows.at(-1)?.id ?? null) : scannedTo;
  }
  return files;
}

function tooLarge(most: string): AppError {
  return new AppError("VALIDATION_ERROR", `More matches than the ${most} of an archive.`, {
    suggestion: "Narrow the search.",
  });
}
