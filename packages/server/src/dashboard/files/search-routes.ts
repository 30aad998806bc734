import {
  CONTENT_TYPE_MAX,
  FILE_STATUSES,
  type FileListItem,
  Moment,
  PageQuery,
  SEARCH_TERM_MAX,
  SLUG_MAX,
  StringEnum,
  Type,
} from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { admitSearch, dashboardBudget } from "../../files/search/look-through.ts";
import { countFiles, type Searcher, searchFiles } from "../../files/search-files.ts";
import type { FoundFile as FoundRow } from "../../files/search-queries.ts";
import { toListItem } from "../../files/serialize.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { boundsOf } from "../../http/moment.ts";
import { encodeCursor, endPage, startPage } from "../../http/paging.ts";
import type { Actor } from "../../kernel/actor.ts";
import { firstIdAt } from "../../kernel/ids.ts";
import { cdnFor, fileUrl } from "../../projects/file-url.ts";
import { isImageType } from "../../serving/images/image-type.ts";
import { signUrl } from "../../serving/images/transform-image.ts";
import type { VariantSigner } from "../../serving/images/variant-signature.ts";
import { deleteMatching } from "./delete-chosen.ts";
import { toFilter } from "./search-filter.ts";

const text = Type.Optional(Type.String({ maxLength: SEARCH_TERM_MAX }));
const time = Type.Optional(Moment);

const terms = {
  name: text,
  /** A whole type, or how it begins. */
  type: Type.Optional(Type.String({ maxLength: CONTENT_TYPE_MAX })),
  status: Type.Optional(StringEnum(FILE_STATUSES)),
  routeSlug: Type.Optional(Type.String({ maxLength: SLUG_MAX })),
  metadata: text,
  since: time,
  until: time,
};
const FileSearchQuery = Type.Object({ ...PageQuery.properties, ...terms });
const id = Type.String({ minLength: 26, maxLength: 26, pattern: "^[0-9a-hjkmnp-tv-z]{26}$" });
const CountQuery = Type.Object({ ...terms, cursor: PageQuery.properties.cursor });
const DeleteBody = Type.Object({ ...terms, before: id });

/** What the dashboard shows of a file: an image also small. */
interface FoundFile extends FileListItem {
  /** At the installation's own address, which the pages may read from whatever domain the project has. */
  contentUrl: string;
  thumbnailUrl: string | null;
}

const thumbnail = { width: 320, height: 320, fit: "cover", quality: 75, format: "webp" } as const;

export function fileSearchRoutes(app: ApiApp, deps: Deps, signer: VariantSigner): void {
  const { db, turns } = deps;
  const searcherOf = ({ accountId }: Actor): Searcher => ({ db, turns, accountId, budget: dashboardBudget });
  const admit = (actor: Actor) => {
    admitSearch(turns, actor.accountId);
    return searcherOf(actor);
  };

  /**
   * Its recipe is always the same and nobody can ask for another, so it is not charged for. Files in a customer's own
   * bucket are never transformed.
   */
  const toFound = (actor: Actor, row: FoundRow, now: number): FoundFile => {
    const isOurs = row.status === "UPLOADED" && row.store === deps.store.name;
    const isImage = isOurs && isImageType(row.type);
    const small = isImage ? signUrl(deps.config, signer, now, row, thumbnail, "signed").url : null;
    const item = toListItem(cdnFor(deps.config, actor), row);
    return { ...item, contentUrl: fileUrl(deps.config, row.key), thumbnailUrl: small };
  };

  app.get("/search", { schema: { querystring: FileSearchQuery } }, async ({ actor, query }) => {
    const { before, take } = startPage(query);
    const { projectId, environment } = actor;
    const wanted = { projectId, environment, ...boundsOf(query, before), take };
    const { rows, scannedTo } = await searchFiles(admit(actor), wanted, toFilter(query));
    const { shown, nextCursor, hasMore } = endPage(rows, take);
    const now = deps.now();
    const files = shown.map((row) => toFound(actor, row, now));
    if (scannedTo === null) return { files, nextCursor, hasMore };
    return { files, nextCursor: encodeCursor(scannedTo), hasMore: true };
  });

  /** `before` keeps later uploads out of a deletion of what was counted. A long count continues with `cursor`. */
  app.get("/search/count", { schema: { querystring: CountQuery } }, async ({ actor, query }) => {
    const { projectId, environment } = actor;
    const before = query.cursor === undefined ? firstIdAt(deps.now() + 1) : startPage(query).before;
    const wanted = { projectId, environment, ...boundsOf(query, before) };
    const { count, scannedTo } = await countFiles(admit(actor), wanted, toFilter(query));
    const nextCursor = scannedTo === null ? null : encodeCursor(scannedTo);
    return { count, before, nextCursor, hasMore: scannedTo !== null };
  });

  const stop = new AbortController();
  app.addHook("preClose", async () => stop.abort());
  app.post("/search/delete", { schema: { body: DeleteBody } }, async ({ actor, body }) =>
    deleteMatching(deps, searcherOf(actor), actor, boundsOf(body, body.before), toFilter(body), stop.signal),
  );
}
