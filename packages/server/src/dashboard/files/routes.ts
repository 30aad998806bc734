import { CHANGES_PER_CALL, FILE_KEY_MAX, PageQuery, StringEnum, Type } from "@upstow/contract";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { findImport } from "../../files/imports/queries.ts";
import { isReadable } from "../../files/life.ts";
import type { Searcher } from "../../files/list-files.ts";
import { type Budget, dashboardBudget } from "../../files/look-through.ts";
import { findFile } from "../../files/queries.ts";
import type { FoundFile as FoundRow } from "../../files/search/queries.ts";
import { nameFile } from "../../files/serialize.ts";
import { tallyFiles } from "../../files/tally-files.ts";
import { listTrashPage } from "../../files/trash.ts";
import { boundsOf, endPage, startPage } from "../../http/paging.ts";
import { type ApiApp, withAuthor } from "../../http/request-context.ts";
import type { Actor } from "../../kernel/actor.ts";
import { notFound } from "../../kernel/errors.ts";
import { admitSearch } from "../../kernel/fair-turns.ts";
import { firstIdAt } from "../../kernel/ids.ts";
import { listVariantsOfFile } from "../../serving/images/queries.ts";
import { parseRecipe } from "../../serving/images/recipe.ts";
import type { VariantSigner } from "../../serving/images/variant-signature.ts";
import { linkTo } from "../../serving/links/create-links.ts";
import { findLinkedFile, lastRevocationOf, listCountedLinks } from "../../serving/links/queries.ts";
import { ChangeBody, changeFiles } from "./change-files.ts";
import { deleteChosen } from "./delete-chosen.ts";
import { findPage } from "./find-page.ts";
import { searchTerms } from "./search-terms.ts";
import { showFile } from "./show-file.ts";

/** A page being closed may still send 64 KiB, which fits this many ids. */
const mostChosen = 2_000;
const mostVariants = 100;
/** Counting more would cost every visit of the page more than its files. */
const tallyBudget: Budget = { ...dashboardBudget, rows: 20_000 };

const listOf = (maxItems: number) =>
  Type.Array(Type.String({ minLength: 26, maxLength: 26 }), { minItems: 1, maxItems });
const DeleteBody = Type.Object({ ids: listOf(mostChosen) });
const ChangeChosenBody = Type.Object({ ids: listOf(CHANGES_PER_CALL), change: ChangeBody });
const KeyQuery = Type.Object({ key: Type.String({ minLength: 1, maxLength: FILE_KEY_MAX }) });
const LinkQuery = Type.Object({ ...KeyQuery.properties, ...PageQuery.properties });

export function chosenFileRoutes(app: ApiApp, deps: Deps): void {
  app.post("/files/delete", { schema: { body: DeleteBody }, config: { isLarge: true } }, async (request) =>
    deleteChosen(withAuthor(deps, request), request.actor, [...new Set(request.body.ids)]),
  );

  app.post(
    "/files/change",
    { schema: { body: ChangeChosenBody }, config: { isLarge: true } },
    async (request) => {
      const { ids, change } = request.body;
      const changed = await changeFiles(withAuthor(deps, request), request.actor, [...new Set(ids)], change);
      return { changed };
    },
  );

  app.get("/variants", { schema: { querystring: KeyQuery } }, async ({ actor, query }) => {
    const file = await getFile(deps, actor, query.key);
    const rows = await deps.db.all(listVariantsOfFile, { fileId: file.id, take: mostVariants });
    return {
      variants: rows.map((row) => ({
        id: row.id,
        recipe: row.recipe === null ? null : parseRecipe(row.recipe),
        type: row.content_type,
        size: row.size_bytes,
        createdAt: toIso(row.ready_at ?? row.used_at),
        usedAt: toIso(row.used_at),
      })),
    };
  });

  app.get("/trash", { schema: { querystring: PageQuery } }, async ({ actor, query }) => {
    const { projectId, environment } = actor;
    const { before, take } = startPage(query);
    const rows = await deps.db.all(listTrashPage, { projectId, environment, before, take, now: deps.now() });
    const { shown, ...page } = endPage(rows, take);
    return {
      ...page,
      files: shown.map((row) => ({
        id: row.id,
        key: row.key,
        name: row.name,
        size: row.size_bytes,
        type: row.type,
        deletedAt: toIso(row.updated_at),
        purgeAt: toIso(row.purge_at),
      })),
    };
  });

  app.post("/trash/delete", { schema: { body: DeleteBody }, config: { isLarge: true } }, async (request) => {
    const ids = [...new Set(request.body.ids)];
    return deleteChosen(withAuthor(deps, request), request.actor, ids, { onlyTrashed: true });
  });

  /** The links whose uses are counted. Their tokens are not stored, so nobody can use a link that is listed here. */
  app.get("/files/links", { schema: { querystring: LinkQuery } }, async ({ actor, query }) => {
    const { id: fileId } = await getFile(deps, actor, query.key);
    const after = lastRevocationOf(await deps.db.recall(findLinkedFile, { id: fileId }));
    const { before, take } = startPage(query);
    const rows = await deps.db.all(listCountedLinks, { fileId, now: deps.now(), after, before, take });
    const { shown, ...page } = endPage(rows, take);
    return {
      ...page,
      links: shown.map((row) => ({
        id: row.id,
        usesLeft: row.max_uses - row.uses,
        maxUses: row.max_uses,
        createdAt: toIso(row.created_at),
        expiresAt: toIso(row.expires_at),
      })),
    };
  });
}

async function getFile({ db, now }: Deps, { projectId, environment }: Actor, key: string): Promise<FileRow> {
  const file = await db.get(findFile, { projectId, environment, ...nameFile(key), now: now() });
  if (file === null) throw notFound("File");
  return file;
}

function toIso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** A name of 255 characters, as a cursor carries it. */
const sortedCursorMax = 3_000;
const FileSearchQuery = Type.Object({
  ...PageQuery.properties,
  ...searchTerms,
  cursor: Type.Optional(Type.String({ maxLength: sortedCursorMax })),
  sort: Type.Optional(StringEnum(["date", "name", "-name", "size", "-size"])),
});

export function fileSearchRoutes(app: ApiApp, deps: Deps, signer: VariantSigner): void {
  const { db, turns } = deps;
  const searcherOf = ({ accountId }: Actor): Searcher => ({ db, turns, accountId, budget: dashboardBudget });
  const admit = (actor: Actor) => {
    admitSearch(turns, actor.accountId);
    return searcherOf(actor);
  };

  const show = (actor: Actor, row: FoundRow) => showFile(deps, signer, actor, row);

  /** A private file comes with a link for the person who opens it, and one that is being fetched with how far that is. */
  app.get("/search/file", { schema: { querystring: KeyQuery } }, async ({ actor, query }) => {
    const row = await getFile(deps, actor, query.key);
    const needsLink = row.access === "private" && isReadable(row);
    const found = row.status === "UPLOADING" ? await db.get(findImport, { fileId: row.id }) : null;
    return {
      progress: found && { receivedBytes: found.received_bytes, totalBytes: found.total_bytes },
      file: await show(actor, row),
      link: needsLink ? await linkTo(deps, actor, row) : null,
    };
  });

  app.get("/search", { schema: { querystring: FileSearchQuery } }, async ({ actor, query }) => {
    const { rows, ...page } = await findPage(deps, admit(actor), actor, query);
    return { files: await Promise.all(rows.map((row) => show(actor, row))), ...page };
  });

  /** Routes are the first part of every key, so they are the folders: how many files each has, and how large they are. */
  app.get("/folders", { schema: {} }, async ({ actor }) => {
    const { projectId, environment } = actor;
    const now = deps.now();
    const wanted = { projectId, environment, ...boundsOf({}, firstIdAt(now + 1)), now };
    const { routes, isWhole } = await tallyFiles({ ...admit(actor), budget: tallyBudget }, wanted);
    return { folders: routes, isWhole };
  });
}
