import {
  DELIVERY_STATUSES,
  type Delivery,
  DeliveryQuery,
  type DeliveryStatus,
  SEARCH_TERM_MAX,
  StringEnum,
  Type,
  URL_MAX,
} from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { foldCase, inJson, lookForPage } from "../../files/look-through.ts";
import { startPage } from "../../http/paging.ts";
import type { ApiApp } from "../../http/request-context.ts";
import { admitSearch } from "../../kernel/fair-turns.ts";
import { firstIdAt } from "../../kernel/ids.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import { deliveryBounds, toDelivery } from "../../webhooks/deliveries.ts";
import { measureDeliveries, measureEndpoints, searchDeliveries } from "./queries.ts";

const { limit, cursor, since, until } = DeliveryQuery.properties;
/** Fields of a search form: empty means any. */
const RowQuery = Type.Object({
  limit,
  cursor,
  since,
  until,
  status: Type.Optional(StringEnum(DELIVERY_STATUSES)),
  routeSlug: Type.Optional(Type.String({ maxLength: SEARCH_TERM_MAX })),
  url: Type.Optional(Type.String({ maxLength: URL_MAX })),
  text: Type.Optional(Type.String({ maxLength: SEARCH_TERM_MAX })),
});

/** A delivery with its file's name and what came back last. */
interface DeliveryRow extends Delivery {
  fileName: string;
  fileKey: string;
  statusCode: number | null;
  error: string | null;
  durationMs: number | null;
}

const dayMs = 24 * 60 * 60 * 1000;
const endpointDays = 7;
/** The newest deliveries that rates are counted over. */
const endpointRows = 5_000;

export function deliveryRowRoutes(app: ApiApp, deps: Deps): void {
  const { db, turns } = deps;

  app.get("/webhooks/rows", { schema: { querystring: RowQuery } }, async ({ actor, query }) => {
    const { projectId, environment, accountId } = actor;
    admitSearch(turns, accountId);
    const page = startPage(query);
    const bounds = deliveryBounds(query);
    const wanted = {
      projectId,
      environment,
      ...statesOf(query.status),
      routeSlug: query.routeSlug ?? "",
      url: query.url ?? "",
      text: foldCase(inJson(query.text ?? "")),
    };
    const before = page.before < bounds.before ? page.before : bounds.before;
    const { shown, ...rest } = await lookForPage(
      deps,
      accountId,
      { from: bounds.from, before, take: page.take },
      {
        measure: (span) => db.get(measureDeliveries, { ...wanted, ...span }),
        read: async (stretch) => (await db.all(searchDeliveries, { ...wanted, ...stretch })).map(toRow),
      },
    );
    return { deliveries: shown, ...rest };
  });

  app.get("/webhooks/endpoints", { schema: {} }, async ({ actor: { projectId, environment } }) => {
    const today = deps.now() - (deps.now() % dayMs);
    const from = firstIdAt(today - (endpointDays - 1) * dayMs);
    const wanted = { projectId, environment, from, before: "~", rows: endpointRows, dayMs };
    const rows = await db.all(measureEndpoints, wanted);
    const byUrl = Map.groupBy(rows, ({ url }) => url ?? "");
    const count = rows.reduce((sum, { total }) => sum + total, 0);
    return {
      days: endpointDays,
      isPartial: count === endpointRows,
      endpoints: [...byUrl].map(([url, days]) => ({
        url,
        lastAt: isoTime(Math.max(...days.map(({ lastAt }) => lastAt))),
        averageMs: averageOf(days),
        days: days.map(({ day, total, delivered, failed }) => ({
          day: isoTime(day).slice(0, 10),
          delivered,
          failed,
          pending: total - delivered - failed,
        })),
      })),
    };
  });
}

function statesOf(status: DeliveryStatus | undefined) {
  if (status === undefined) return { state: "", orState: "" } as const;
  if (status === "pending") return { state: "ready", orState: "leased" } as const;
  return { state: status, orState: status };
}

type SearchedRow = Parameters<typeof toDelivery>[0] & {
  body: string;
  status_code: number | null;
  error: string | null;
  duration_ms: number | null;
};

function toRow(row: SearchedRow): DeliveryRow {
  const { file } = JSON.parse(row.body) as { file: { name: string; key: string } };
  return {
    ...toDelivery(row),
    fileName: file.name,
    fileKey: file.key,
    statusCode: row.status_code,
    error: row.error,
    durationMs: row.duration_ms,
  };
}

function averageOf(days: { timed: number; timeMs: number }[]): number | null {
  const timed = days.reduce((sum, day) => sum + day.timed, 0);
  return timed === 0 ? null : Math.round(days.reduce((sum, day) => sum + day.timeMs, 0) / timed);
}
