import type { Environment } from "@upstow/contract";
import type { Database } from "../../db/database.ts";
import type { FileRouteTable } from "../../db/schema.ts";
import { unauthorized } from "../../kernel/errors.ts";
import { findRouteBySlug } from "./queries.ts";

/** A project's route as every upload to it needs it. */
export function findRoute(
  db: Database,
  projectId: string,
  slug: string,
): FileRouteTable | null | Promise<FileRouteTable | null> {
  return db.recall(findRouteBySlug, `${projectId}/${slug}`, () => ({ projectId, slug }));
}

/** To the other environment, a route of one is as good as none. */
export function serves(route: Pick<FileRouteTable, "environment">, environment: Environment): boolean {
  return route.environment === "all" || route.environment === environment;
}

export function requireServes(route: FileRouteTable, environment: Environment): void {
  if (serves(route, environment)) return;
  throw unauthorized(
    `a ${environment} key on ${route.environment} route "${route.slug}"`,
    `The file route "${route.slug}" takes ${route.environment} keys only. Send one of those.`,
  );
}
