import { Type } from "@upstow/contract";
import type { Deps } from "../deps.ts";
import type { ApiApp } from "../http/api-app.ts";
import { getUsageDays } from "../projects/usage/usage-days.ts";

const Query = Type.Object({ days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, default: 30 })) });

export function usageDayRoutes(app: ApiApp, deps: Deps): void {
  app.get("/usage/days", { schema: { querystring: Query } }, async ({ actor, query }) => ({
    days: await getUsageDays(deps, actor, query.days ?? 30),
  }));
}
