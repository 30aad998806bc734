import { ANONYMOUS_BODY_MAX_BYTES } from "@upstow/contract";
import type { FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";
import type { Importer } from "../files/imports/importer.ts";
import { limitLargeRequests } from "../http/large-requests.ts";
import { typed } from "../http/request-context.ts";
import type { Transforms } from "../serving/images/transforms.ts";
import { adminRoutes } from "./admin-routes.ts";
import { auditRoutes } from "./audit-routes.ts";
import { factorRoutes, passkeySignInRoutes } from "./factors/routes.ts";
import { cdnCheckRoutes, cdnDomainRoutes, customerStorageRoutes } from "./hosting-routes.ts";
import { invitationRoutes, joinRoutes, memberRoutes } from "./members/routes.ts";
import { pageRoutes } from "./page-routes.ts";
import { createPasswordWork } from "./password-work.ts";
import { deletedProjectRoutes, ownProjectRoutes } from "./project-routes.ts";
import { openSessions, requireSameOrigin, requireSession } from "./session/open-sessions.ts";
import { accountRoutes, signInRoutes } from "./session-routes.ts";
import { workspaceRoutes } from "./workspace-routes.ts";

/** The dashboard's pages and their API: authenticated by a session cookie, never by an API key. */
export function dashboardRoutes(
  app: FastifyInstance,
  deps: Deps,
  transforms: Transforms,
  importer: Pick<Importer, "nudge">,
): void {
  pageRoutes(app, deps);
  cdnCheckRoutes(app, deps);
  app.register(
    async (scope) => {
      // The pages ignore fields they do not know.
      scope.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
      scope.addHook("onRequest", async (request, reply) => {
        reply.headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
        requireSameOrigin(deps.config, request);
      });
      const passwords = createPasswordWork(deps.passwordCost);
      scope.register(async (door) => {
        await openSessions(door, deps);
        door.addHook("onRoute", (route) => {
          route.bodyLimit = ANONYMOUS_BODY_MAX_BYTES;
        });
        const open = typed(door);
        signInRoutes(open, deps, passwords);
        passkeySignInRoutes(open, deps);
        joinRoutes(open, deps, passwords);
      });
      scope.register(async (inner) => {
        const signedIn = typed(inner);
        await requireSession(inner, deps);
        limitLargeRequests(inner, ({ session }) => session.accountId);
        accountRoutes(signedIn, deps, passwords);
        factorRoutes(signedIn, deps, passwords);
        ownProjectRoutes(signedIn, deps);
        deletedProjectRoutes(signedIn, deps);
        cdnDomainRoutes(signedIn, deps);
        customerStorageRoutes(signedIn, deps);
        memberRoutes(signedIn, deps);
        invitationRoutes(signedIn, deps);
        auditRoutes(signedIn, deps);
        workspaceRoutes(inner, deps, transforms, importer);
        inner.register(async (admin) => adminRoutes(typed(admin), deps), { prefix: "/admin" });
      });
    },
    { prefix: "/dashboard/api" },
  );
}
