import { FILE_STATUSES, type FileListItem, PageQuery, StringEnum, Type } from "@upstow/contract";
import type { FileTable } from "../../../db/schema.ts";
import type { Deps } from "../../../deps.ts";
import type { ApiApp } from "../../../http/api-app.ts";
import { encodeCursor, endPage, startPage } from "../../../http/paging.ts";
import { firstIdAt } from "../../../ids.ts";
import type { Actor } from "../../api-keys/actor.ts";
import { cdnFor, fileUrl } from "../../files/file-url.ts";
import { toListItem } from "../../files/serialize.ts";
import { isImageType } from "../../transforms/image-type.ts";
import { signUrl } from "../../transforms/transform-image.ts";
import type { VariantSigner } from "../../transforms/variant-signature.ts";
import { deleteMatching } from "./delete-chosen.ts";
import { boundsOf, countFiles, searchFiles, termsOf } from "./search.ts";

const text = Type.Optional(Type.String({ maxLength: 255 }));
const time = Type.Optional(Type.String({ format: "date-time" }));

const terms = {
  name: text,
  /** A whole type, or how it begins. */
  type: text,
  status: Type.Optional(StringEnum(FILE_STATUSES)),
  routeSlug: text,
  metadata: text,
  since: time,
  until: time,
};
const FileSearchQuery = Type.Object({ ...PageQuery.properties, ...terms });
const CountQuery = Type.Object(terms);
const DeleteBody = Type.Object({ ...terms, before: Type.String({ pattern: "^[0-9a-hjkmnp-tv-z]{26}$" }) });

/** What the dashboard shows of a file: an image also small. */
interface FoundFile extends FileListItem {
  /** At the installation's own address, which the pages may read from whatever domain the project has. */
  contentUrl: string;
  thumbnailUrl: string | null;
}

const thumbnail = { width: 320, height: 320, fit: "cover", quality: 75, format: "webp" } as const;

export function fileSearchRoutes(app: ApiApp, deps: Deps, signer: VariantSigner): void {
  /**
   * Its recipe is always the same and nobody can ask for another, so it is not charged for. Files in a customer's own
   * bucket are never transformed.
   */
  const toFound = (actor: Actor, row: FileTable, now: number): FoundFile => {
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
    const { rows, scannedTo } = await searchFiles(deps.db, wanted, termsOf(query));
    const { shown, nextCursor, hasMore } = endPage(rows, take);
    const now = deps.now();
    const files = shown.map((row) => toFound(actor, row, now));
    if (scannedTo === null) return { files, nextCursor, hasMore };
    return { files, nextCursor: encodeCursor(scannedTo), hasMore: true };
  });

  /** `before` keeps what is uploaded afterwards out of a deletion of what was counted. */
  app.get("/search/count", { schema: { querystring: CountQuery } }, async ({ actor, query }) => {
    const { projectId, environment } = actor;
    const before = firstIdAt(deps.now() + 1);
    const wanted = { projectId, environment, ...boundsOf(query, before) };
    return { count: await countFiles(deps.db, wanted, termsOf(query)), before };
  });

  const stop = new AbortController();
  app.addHook("preClose", async () => stop.abort());
  app.post("/search/delete", { schema: { body: DeleteBody } }, async ({ actor, body }) =>
    deleteMatching(deps, actor, boundsOf(body, body.before), termsOf(body), stop.signal),
  );
}
