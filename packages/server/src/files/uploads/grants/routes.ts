import { CreateUploadGrantBody, Type, UploadGrant } from "@upstow/contract";
import type { Deps } from "../../../deps.ts";
import { type ApiApp, withAuthor } from "../../../http/request-context.ts";
import { createUploadGrant, type GivenGrant, showGrant } from "./grant.ts";

export function uploadGrantRoutes(app: ApiApp, deps: Deps): void {
  app.post(
    "/upload/grants",
    {
      schema: {
        tags: ["uploads"],
        summary: "Allow uploads to one route without an API key",
        body: CreateUploadGrantBody,
        response: { 200: Type.Object({ grant: UploadGrant }) },
      },
      config: {
        rateWindow: "upload",
        errors: ["NOT_FOUND"],
        replay: async (_request, given) => ({ grant: showGrant(deps, given as GivenGrant) }),
      },
    },
    async (request) => {
      const { actor, body, idempotency } = request;
      const given = await createUploadGrant(withAuthor(deps, request), actor, body, (tx, saved) =>
        idempotency.remember(tx, 200, saved),
      );
      return { grant: showGrant(deps, given) };
    },
  );
}
