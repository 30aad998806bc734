import type { TestApp } from "./start-app.ts";

/** Every "METHOD /path" that the service answers below a prefix, as the router itself tells it. */
export function listRoutes(app: TestApp, prefix: string): string[] {
  const routes: string[] = [];
  const above: string[] = [];
  for (const line of app.app.http.printRoutes({ commonPrefix: false }).split("\n")) {
    const found = /^(?<lead>[│├└─\s]*)(?<path>[^\s│├└─]\S*)(?: \((?<methods>[A-Z, ]+)\))?$/.exec(
      line,
    )?.groups;
    if (found === undefined) continue;
    const depth = (found["lead"] ?? "").length / 4;
    above.length = depth;
    above[depth] = found["path"] ?? "";
    const path = above.join("");
    if (!path.startsWith(prefix)) continue;
    const methods = (found["methods"] ?? "")
      .split(", ")
      .filter((method) => method !== "" && method !== "HEAD");
    for (const method of methods) routes.push(`${method} ${path.slice(prefix.length)}`);
  }
  return routes.sort();
}
