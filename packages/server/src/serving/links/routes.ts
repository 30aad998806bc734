import {
  CreatedLinks,
  CreateGrantBody,
  CreateLinksBody,
  Grant,
  ReadKeys,
  RevokedLinks,
  RevokeLinksBody,
  Type,
} from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { bulkBody, bulkResponses, bulkStatus, toFailures } from "../../files/serialize.ts";
import { type ApiApp, withAuthor } from "../../http/request-context.ts";
import type { Actor } from "../../kernel/actor.ts";
import { record } from "../../projects/audit/record.ts";
import { type LinkPlan, planGrant, planLinks, signPlan, signPlannedGrant } from "./create-links.ts";
import { getReadKeys, rotateReadKeys } from "./read-keys.ts";
import { revokeLinks } from "./revoke-links.ts";
import type { GrantFacts } from "./tokens.ts";

const tags = ["private files"];

export function linkRoutes(app: ApiApp, deps: Deps): void {
  const toCreated = async (actor: Actor, plan: LinkPlan) => ({
    links: await signPlan(deps, actor, plan),
    failures: toFailures(plan.missing),
  });

  app.post(
    "/files/links",
    {
      config: {
        isLarge: true,
        errors: ["NOT_FOUND", "TIER_LIMIT_EXCEEDED"],
        replay: ({ actor }, plan) => toCreated(actor, plan as LinkPlan),
      },
      schema: {
        tags,
        summary: "Create links to up to 100 files, by key or id",
        body: CreateLinksBody,
        response: bulkResponses(CreatedLinks),
      },
    },
    async (request, reply) => {
      const { actor, body, idempotency } = request;
      const plan = await planLinks(withAuthor(deps, request), actor, body, (tx, saved) =>
        idempotency.remember(tx, bulkStatus(saved.links.length, saved.missing), saved),
      );
      const status = bulkStatus(plan.links.length, plan.missing);
      return reply.code(status).send(bulkBody(status, await toCreated(actor, plan)));
    },
  );

  app.post(
    "/files/links/revoke",
    {
      config: { errors: ["NOT_FOUND"], isLarge: true },
      schema: {
        tags,
        summary: "Revoke the links of files, or all links and grants of an audience or the environment",
        body: RevokeLinksBody,
        response: bulkResponses(RevokedLinks),
      },
    },
    async (request, reply) => {
      const { actor, body, idempotency } = request;
      const own = withAuthor(deps, request);
      const done = await revokeLinks(own, actor, body, async (tx, { revoked, missing }) => {
        const status = bulkStatus(revoked, missing);
        if (status === 404) return;
        await idempotency.remember(tx, status, { revoked, failures: toFailures(missing) });
      });
      const status = bulkStatus(done.revoked, done.missing);
      const result = { revoked: done.revoked, failures: toFailures(done.missing) };
      return reply.code(status).send(bulkBody(status, result));
    },
  );

  app.post(
    "/files/grants",
    {
      config: {
        replay: async ({ actor }, facts) => ({
          grant: await signPlannedGrant(deps, actor, facts as GrantFacts),
        }),
      },
      schema: {
        tags,
        summary: "Grant read access to all files of a route, a prefix or an audience",
        body: CreateGrantBody,
        response: { 200: Type.Object({ grant: Grant }) },
      },
    },
    async (request) => {
      const { actor, body, idempotency } = request;
      const facts = await planGrant(withAuthor(deps, request), actor, body, (tx, saved) =>
        idempotency.remember(tx, 200, saved),
      );
      return { grant: await signPlannedGrant(deps, actor, facts) };
    },
  );

  app.get(
    "/files/read-keys",
    {
      // Viewers of a project must not be able to sign links to all of its files.
      config: { role: "developer" },
      schema: { tags, summary: "Get the keys that sign links and grants", response: { 200: ReadKeys } },
    },
    async ({ actor: { projectId, environment } }) => getReadKeys(deps, { projectId, environment }),
  );

  app.post(
    "/files/read-keys/rotate",
    {
      config: {
        errorStatuses: { 409: "VALIDATION_ERROR" },
        // Keys are never stored for a repeated call: it shows what they are now.
        replay: ({ actor: { projectId, environment } }) => getReadKeys(deps, { projectId, environment }),
      },
      schema: {
        tags,
        summary: "Make the next read key current; links signed with the old one stop working",
        response: { 200: ReadKeys },
      },
    },
    async ({ actor: { projectId, environment }, author, idempotency }) =>
      rotateReadKeys(deps, { projectId, environment }, async (tx) => {
        await record(tx, deps.now(), author, {
          action: "read-keys.rotated",
          target: { kind: "environment", id: environment },
          projectId,
        });
        await idempotency.remember(tx, 200, {});
      }),
  );
}
