import { setImmediate as nextTurn } from "node:timers/promises";
import { type Environment, FILE_STATUSES, FilePage, PageQuery, StringEnum, Type } from "@upstow/contract";
import { sql } from "kysely";
import type { Database } from "../../db/database.ts";
import type { FileTable } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { encodeCursor, endPage, startPage } from "../../http/paging.ts";
import { toListItem } from "../files/serialize.ts";

interface Scope {
  projectId: string;
  environment: Environment;
}

interface Search extends Scope {
  namePattern: string;
  typePattern: string;
  /** Empty for any. */
  status: string;
  routeSlug: string;
  from: string;
  before: string;
  take: number;
}

/** About 5 ms of scanning. Other requests get their turn between two windows, however many files there are. */
const windowRows = 10_000;
const windowsPerCall = 20;

/** Where the window that starts before an id ends; no row where fewer files are left. */
const findWindowEnd = statement((q, p: Scope & { before: string }) =>
  q
    .selectFrom("file")
    .select("id")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where(sql<boolean>`status <> 'DELETED'`)
    .where("id", "<", p.before)
    .orderBy("id", "desc")
    .limit(1)
    .offset(windowRows - 1),
);

const searchFiles = statement((q, p: Search) =>
  q
    .selectFrom("file")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    // Written out, not bound: it has to match the condition of the index that lists files.
    .where(sql<boolean>`status <> 'DELETED'`)
    .where("id", "<", p.before)
    .where("id", ">=", p.from)
    .where(sql<boolean>`lower(name) like ${p.namePattern} escape '!'`)
    .where(sql<boolean>`lower(type) like ${p.typePattern} escape '!'`)
    .where(sql<boolean>`(${p.status} = '' or status = ${p.status})`)
    .where(sql<boolean>`(${p.routeSlug} = '' or route_slug = ${p.routeSlug})`)
    .orderBy("id", "desc")
    .limit(p.take),
);

const SearchQuery = Type.Object({
  ...PageQuery.properties,
  name: Type.Optional(Type.String({ maxLength: 255 })),
  /** A whole type, or the part before its slash. */
  type: Type.Optional(Type.String({ maxLength: 255 })),
  status: Type.Optional(StringEnum(FILE_STATUSES)),
  routeSlug: Type.Optional(Type.String({ maxLength: 255 })),
});

export function fileSearchRoute(app: ApiApp, deps: Deps): void {
  app.get(
    "/search",
    { schema: { hide: true, querystring: SearchQuery, response: { 200: FilePage } } },
    async ({ actor, query }) => {
      const { before, take } = startPage(query);
      const { rows, scannedTo } = await search(deps.db, {
        projectId: actor.projectId,
        environment: actor.environment,
        namePattern: `%${literally(query.name ?? "")}%`,
        typePattern: `${literally(query.type ?? "")}%`,
        status: query.status ?? "",
        routeSlug: query.routeSlug ?? "",
        before,
        take,
      });
      const { shown, nextCursor, hasMore } = endPage(rows, take);
      const files = shown.map((row) => toListItem(deps.config, row));
      if (scannedTo === null) return { files, nextCursor, hasMore };
      return { files, nextCursor: encodeCursor(scannedTo), hasMore: true };
    },
  );
}

/** Stops when the page is full or all was seen, or else says up to which id it came. */
async function search(db: Database, wanted: Omit<Search, "from">) {
  const rows: FileTable[] = [];
  let { before } = wanted;
  for (let window = 0; window < windowsPerCall; window++) {
    const end = await db.get(findWindowEnd, { ...wanted, before });
    const from = end?.id ?? "";
    const take = wanted.take - rows.length;
    rows.push(...(await db.all(searchFiles, { ...wanted, before, from, take })));
    if (end === null || rows.length === wanted.take) return { rows, scannedTo: null };
    before = from;
    await nextTurn();
  }
  return { rows, scannedTo: before };
}

/** Both engines fold only the letters A to Z of what is stored. */
function literally(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll(/[!%_]/g, "!$&");
}
