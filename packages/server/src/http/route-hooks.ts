import type { RouteOptions } from "fastify";

type HookName = "onRequest" | "preParsing" | "preValidation" | "preHandler" | "onSend" | "onResponse";
type Hook<Name extends HookName> = Exclude<NonNullable<RouteOptions[Name]>, unknown[]>;

const added = new WeakMap<RouteOptions, Map<HookName, number>>();

/** Adds a hook to a route as it is registered: after those added before, ahead of the route's own. */
export function addRouteHook<Name extends HookName>(route: RouteOptions, name: Name, hook: Hook<Name>): void {
  const counts = added.get(route) ?? new Map<HookName, number>();
  added.set(route, counts);
  const count = counts.get(name) ?? 0;
  const hooks: unknown[] = [route[name] ?? []].flat();
  Object.assign(route, { [name]: hooks.toSpliced(count, 0, hook) });
  counts.set(name, count + 1);
}
