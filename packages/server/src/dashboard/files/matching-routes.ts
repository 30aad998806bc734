import { PageQuery, Type } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { countFiles, type Searcher } from "../../files/list-files.ts";
import { dashboardBudget } from "../../files/look-through.ts";
import { boundsOf, encodeCursor, startPage } from "../../http/paging.ts";
import { type ApiApp, withAuthor } from "../../http/request-context.ts";
import type { Actor } from "../../kernel/actor.ts";
import { admitSearch } from "../../kernel/fair-turns.ts";
import { firstIdAt } from "../../kernel/ids.ts";
import { ChangeBody, changeMatching } from "./change-files.ts";
import { deleteMatching } from "./delete-chosen.ts";
import { searchTerms, toFilter } from "./search-terms.ts";

const id = Type.String({ minLength: 26, maxLength: 26, pattern: "^[0-9a-hjkmnp-tv-z]{26}$" });
const CountQuery = Type.Object({ ...searchTerms, cursor: PageQuery.properties.cursor });
/** Below `before`: what was uploaded after the count is left alone. */
export const FoundBody = Type.Object({ ...searchTerms, before: id });
const ChangeFoundBody = Type.Object({ ...FoundBody.properties, change: ChangeBody });

/** Actions on all files that a search finds, loaded in the page or not. Their download is in archive-routes.ts. */
export function matchingFileRoutes(app: ApiApp, deps: Deps): void {
  const { db, turns } = deps;
  const searcherOf = ({ accountId }: Actor): Searcher => ({ db, turns, accountId, budget: dashboardBudget });
  const admit = (actor: Actor) => {
    admitSearch(turns, actor.accountId);
    return searcherOf(actor);
  };

  /** `before` excludes later uploads from what is done with the counted files. A long count continues with `cursor`. */
  app.get("/search/count", { schema: { querystring: CountQuery } }, async ({ actor, query }) => {
    const { projectId, environment } = actor;
    const now = deps.now();
    const before = query.cursor === undefined ? firstIdAt(now + 1) : startPage(query).before;
    const wanted = { projectId, environment, ...boundsOf(query, before), now };
    const { count, bytes, scannedTo } = await countFiles(admit(actor), wanted, toFilter(query));
    const nextCursor = scannedTo === null ? null : encodeCursor(scannedTo);
    return { count, bytes, before, nextCursor, hasMore: scannedTo !== null };
  });

  const stop = new AbortController();
  app.addHook("preClose", async () => stop.abort());
  app.post("/search/delete", { schema: { body: FoundBody }, config: { isLarge: true } }, async (request) => {
    const { actor, body } = request;
    const own = withAuthor(deps, request);
    const bounds = boundsOf(body, body.before);
    return deleteMatching(own, searcherOf(actor), actor, bounds, toFilter(body), stop.signal);
  });

  app.post(
    "/search/change",
    { schema: { body: ChangeFoundBody }, config: { isLarge: true } },
    async (request) => {
      const { actor, body } = request;
      const own = withAuthor(deps, request);
      const bounds = boundsOf(body, body.before);
      return changeMatching(own, admit(actor), actor, bounds, toFilter(body), body.change);
    },
  );
}
