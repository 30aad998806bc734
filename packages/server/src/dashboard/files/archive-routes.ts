import {
  ARCHIVE_BYTES_MAX,
  ARCHIVE_FILES_MAX,
  ARCHIVE_FOUND_MAX,
  ARCHIVES_AT_ONCE,
  ARCHIVES_PER_MINUTE,
  Type,
} from "@upstow/contract";
import type { FastifyReply } from "fastify";
import { isOneOf, statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import type { FileFilter } from "../../files/file-filter.ts";
import { notEnded } from "../../files/life.ts";
import { type Searcher, searchFiles } from "../../files/list-files.ts";
import { dashboardBudget } from "../../files/look-through.ts";
import type { Scope } from "../../files/queries.ts";
import type { IdStretch } from "../../files/search/queries.ts";
import { boundsOf } from "../../http/paging.ts";
import { type ApiApp, signalGone } from "../../http/request-context.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { admitSearch } from "../../kernel/fair-turns.ts";
import { spend } from "../throttle.ts";
import { type ArchivedFile, createArchive } from "./archive.ts";
import { FoundBody } from "./matching-routes.ts";
import { toFilter } from "./search-terms.ts";

const oneId = "[0-9a-hjkmnp-tv-z]{26}";
const ArchiveQuery = Type.Object({
  ids: Type.String({
    pattern: `^${oneId}(?:,${oneId}){0,${ARCHIVE_FILES_MAX - 1}}$`,
    maxLength: 27 * ARCHIVE_FILES_MAX,
  }),
});

const listChosen = statement((q, p: Scope & { idsJson: string; now: number }, dialect) =>
  q
    .selectFrom("file")
    .select(["id", "key", "name", "size_bytes"])
    .where(isOneOf(dialect, "id", p.idsJson))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("status", "<>", "DELETED")
    .where(notEnded(p.now))
    .orderBy("id"),
);

/** GETs, because only then does the browser write the archive to disk as it arrives. */
export function archiveRoutes(app: ApiApp, deps: Deps): void {
  const { db, turns } = deps;
  const underWay = new Map<string, number>();

  /** A download lasts as long as its reader takes, and its list of files stays in memory. */
  async function admit({ accountId }: Actor, reply: FastifyReply): Promise<void> {
    await spend(deps, `archive:${accountId}`, ARCHIVES_PER_MINUTE);
    const others = underWay.get(accountId) ?? 0;
    if (others >= ARCHIVES_AT_ONCE) throw tooMany();
    if (reply.raw.destroyed) return;
    underWay.set(accountId, others + 1);
    reply.raw.once("close", () => {
      const left = (underWay.get(accountId) ?? 1) - 1;
      if (left === 0) underWay.delete(accountId);
      else underWay.set(accountId, left);
    });
  }

  app.get("/files/archive", { schema: { querystring: ArchiveQuery } }, async ({ actor, query }, reply) => {
    const ids = [...new Set(query.ids.split(","))];
    const { projectId, environment } = actor;
    await admit(actor, reply);
    const idsJson = JSON.stringify(ids);
    const files = await db.all(listChosen, { projectId, environment, idsJson, now: deps.now() });
    if (files.length === 0) throw notFound("File");
    const totalBytes = files.reduce((sum, file) => sum + file.size_bytes, 0);
    if (totalBytes > ARCHIVE_BYTES_MAX) {
      throw invalid("ids", `add up to ${totalBytes} bytes; an archive can have at most ${ARCHIVE_BYTES_MAX}`);
    }
    const archive = createArchive(deps, files, ids.length - files.length, signalGone(reply.raw));
    return reply.headers(archive.headers).send(archive.body);
  });

  app.get("/search/archive", { schema: { querystring: FoundBody } }, async ({ actor, query }, reply) => {
    await admit(actor, reply);
    const { projectId, environment, accountId } = actor;
    const gone = signalGone(reply.raw);
    const wanted = { projectId, environment, ...boundsOf(query, query.before), now: deps.now() };
    admitSearch(turns, accountId);
    const searcher = { db, turns, accountId, budget: dashboardBudget };
    const files = await collect(searcher, wanted, toFilter(query), gone);
    if (files.length === 0) throw notFound("File");
    const archive = createArchive(deps, files, 0, gone);
    return reply.headers(archive.headers).send(archive.body);
  });
}

const batchSize = 500;

/** All of them, in turns with other searches, while somebody waits; throws once they are more than an archive holds. */
async function collect(
  searcher: Searcher,
  { before, ...span }: IdStretch,
  filter: FileFilter,
  gone: AbortSignal,
): Promise<ArchivedFile[]> {
  const files: ArchivedFile[] = [];
  let bytes = 0;
  for (let next: string | null = before; next !== null && !gone.aborted; ) {
    const wanted = { ...span, before: next, take: batchSize };
    const { rows, scannedTo } = await searchFiles(searcher, wanted, { ...filter, withImage: false });
    for (const { id, key, name, size_bytes } of rows) {
      files.push({ id, key, name, size_bytes });
      bytes += size_bytes;
    }
    if (files.length > ARCHIVE_FOUND_MAX) throw tooLarge(`${ARCHIVE_FOUND_MAX} files`);
    if (bytes > ARCHIVE_BYTES_MAX) throw tooLarge(`${ARCHIVE_BYTES_MAX} bytes`);
    next = rows.length === batchSize ? (rows.at(-1)?.id ?? null) : scannedTo;
  }
  return files;
}

function tooMany(): AppError {
  return new AppError("RATE_LIMITED", `At most ${ARCHIVES_AT_ONCE} archives can be downloaded at once.`, {
    suggestion: "Retry when one of them has arrived.",
    headers: { "retry-after": "30" },
  });
}

function tooLarge(most: string): AppError {
  return new AppError(
    "VALIDATION_ERROR",
    `The search matches more than ${most}, the maximum for an archive.`,
    {
      suggestion: "Narrow the search.",
    },
  );
}
