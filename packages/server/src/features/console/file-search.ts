import { type Environment, FILE_STATUSES, FilePage, PageQuery, StringEnum, Type } from "@upstow/contract";
import { sql } from "kysely";
import { statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { endPage, startPage } from "../../http/paging.ts";
import { toListItem } from "../files/serialize.ts";

interface Search {
  projectId: string;
  environment: Environment;
  namePattern: string;
  typePattern: string;
  /** Empty for any. */
  status: string;
  routeSlug: string;
  before: string;
  take: number;
}

const searchFiles = statement((q, p: Search) =>
  q
    .selectFrom("file")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    // Written out, not bound: it has to match the condition of the index that lists files.
    .where(sql<boolean>`status <> 'DELETED'`)
    .where("id", "<", p.before)
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
      const page = startPage(query);
      const rows = await deps.db.all(searchFiles, {
        projectId: actor.projectId,
        environment: actor.environment,
        namePattern: `%${literally(query.name ?? "")}%`,
        typePattern: `${literally(query.type ?? "")}%`,
        status: query.status ?? "",
        routeSlug: query.routeSlug ?? "",
        ...page,
      });
      const { shown, nextCursor, hasMore } = endPage(rows, page.take);
      return { files: shown.map((row) => toListItem(deps.config, row)), nextCursor, hasMore };
    },
  );
}

/** Both engines fold only the letters A to Z of what is stored. */
function literally(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll(/[!%_]/g, "!$&");
}
