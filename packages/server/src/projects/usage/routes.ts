import { Usage, UsageHistory, UsageHistoryQuery } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { getUsage, getUsageHistory } from "./usage.ts";

const tags = ["usage"];

export function usageRoutes(app: ApiApp, deps: Deps): void {
  app.get(
    "/usage",
    { schema: { tags, summary: "Usage and limits of the current month", response: { 200: Usage } } },
    async ({ actor }) => getUsage(deps, actor),
  );

  app.get(
    "/usage/history",
    {
      schema: {
        tags,
        summary: "Usage by month",
        querystring: UsageHistoryQuery,
        response: { 200: UsageHistory },
      },
    },
    async ({ actor, query }) => ({ usage: await getUsageHistory(deps, actor, query.months ?? 12) }),
  );
}
