import { Readable } from "node:stream";
import {
  AUDIT_ACTIONS,
  IdParam,
  Moment,
  PageQuery,
  SEARCH_TERM_MAX,
  type Static,
  StringEnum,
  Type,
} from "@upstow/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { boundsOf, encodeCursor, endPage, startPage } from "../http/paging.ts";
import type { ApiApp } from "../http/request-context.ts";
import { admitSearch } from "../kernel/fair-turns.ts";
import {
  exportTrail,
  findEntries,
  type TrailReader,
  type TrailScope,
  toEntry,
} from "../projects/audit/read-trail.ts";
import { enterProject } from "./access.ts";

const schema = { hide: true };
const terms = {
  author: Type.Optional(Type.String({ maxLength: SEARCH_TERM_MAX })),
  action: Type.Optional(StringEnum(AUDIT_ACTIONS)),
  since: Type.Optional(Moment),
  until: Type.Optional(Moment),
};
const TrailQuery = Type.Object({ ...PageQuery.properties, ...terms });
const ExportQuery = Type.Object({ ...terms, format: Type.Optional(StringEnum(["csv", "jsonl"])) });

/** A project's trail, for its owners; and what concerns one's own account. */
export function auditRoutes(app: ApiApp, deps: Deps): void {
  const ofProject = { ...schema, params: IdParam };
  app.get(
    "/projects/:id/audit",
    { schema: { ...ofProject, querystring: TrailQuery } },
    async ({ session, params, query }) => {
      await enterProject(deps, session, { projectId: params.id, environment: "live" }, "owner");
      return listTrail(admit(deps, session), { projectId: params.id }, query);
    },
  );
  app.get(
    "/projects/:id/audit/export",
    { schema: { ...ofProject, querystring: ExportQuery } },
    async ({ session, params, query }, reply) => {
      await enterProject(deps, session, { projectId: params.id, environment: "live" }, "owner");
      return sendTrail(admit(deps, session), reply, { projectId: params.id }, query);
    },
  );
  app.get("/account/audit", { schema: { ...schema, querystring: TrailQuery } }, async ({ session, query }) =>
    listTrail(admit(deps, session), { accountId: session.accountId }, query),
  );
  app.get(
    "/account/audit/export",
    { schema: { ...schema, querystring: ExportQuery } },
    async ({ session, query }, reply) =>
      sendTrail(admit(deps, session), reply, { accountId: session.accountId }, query),
  );
}

/** The whole trail, for the installation's owner. */
export function installationAuditRoutes(app: ApiApp, deps: Deps): void {
  app.get("/audit", { schema: { ...schema, querystring: TrailQuery } }, async ({ session, query }) =>
    listTrail(admit(deps, session), "all", query),
  );
  app.get(
    "/audit/export",
    { schema: { ...schema, querystring: ExportQuery } },
    async ({ session, query }, reply) => sendTrail(admit(deps, session), reply, "all", query),
  );
}

/** A filter that nothing matches reads 20,000 entries for an empty page, and a whole trail for an empty export. */
function admit({ db, turns }: Deps, { accountId }: FastifyRequest["session"]): TrailReader {
  admitSearch(turns, accountId);
  return { db, turns, accountId };
}

async function listTrail(reader: TrailReader, scope: TrailScope, query: Static<typeof TrailQuery>) {
  const { before, take } = startPage(query);
  const { rows, scannedTo } = await findEntries(reader, scope, toFilter(query, before), take);
  const { shown, nextCursor, hasMore } = endPage(rows, take);
  const entries = shown.map(toEntry);
  if (scannedTo === null) return { entries, nextCursor, hasMore };
  return { entries, nextCursor: encodeCursor(scannedTo), hasMore: true };
}

/** Read while it is sent, so it needs the memory of one batch, however long it is. */
function sendTrail(
  reader: TrailReader,
  reply: FastifyReply,
  scope: TrailScope,
  query: Static<typeof ExportQuery>,
) {
  const { format = "jsonl" } = query;
  const filter = toFilter(query, startPage({}).before);
  const type = format === "csv" ? "text/csv" : "application/jsonl";
  return reply
    .type(`${type}; charset=utf-8`)
    .header("content-disposition", `attachment; filename="audit-log.${format}"`)
    .send(Readable.from(exportTrail(reader, scope, filter, format)));
}

function toFilter(query: Pick<Static<typeof TrailQuery>, keyof typeof terms>, before: string) {
  return { ...boundsOf(query, before), author: query.author, action: query.action };
}
