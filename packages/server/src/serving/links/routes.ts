import {
  CreatedLinks,
  CreateGrantBody,
  CreateLinksBody,
  ErrorEnvelope,
  Grant,
  ReadKeys,
  RevokedLinks,
  RevokeLinksBody,
  Type,
} from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { errorBody } from "../../http/error-handler.ts";
import type { ApiApp } from "../../http/request-context.ts";
import type { Actor } from "../../kernel/actor.ts";
import { notFound } from "../../kernel/errors.ts";
import { type LinkPlan, planGrant, planLinks, signPlan, signPlannedGrant } from "./create-links.ts";
import { getReadKeys, rotateReadKeys } from "./read-keys.ts";
import { revokeLinks } from "./revoke-links.ts";
import type { GrantFacts } from "./tokens.ts";

const tags = ["private files"];

const toFailure = (key: string) => ({ key, code: "NOT_FOUND" as const, message: "File not found." });
const withError = <Schema extends typeof CreatedLinks | typeof RevokedLinks>({ properties }: Schema) =>
  Type.Object({ ...properties, ...ErrorEnvelope.properties });

/** As for bulk deletion. */
const statusOf = (found: number, missing: string[]) => (missing.length === 0 ? 200 : found > 0 ? 207 : 404);

export function linkRoutes(app: ApiApp, deps: Deps): void {
  const toCreated = async (actor: Actor, plan: LinkPlan) => ({
    links: await signPlan(deps, actor, plan),
    failures: plan.missing.map(toFailure),
  });

  app.post(
    "/files/links",
    {
      config: {
        errors: ["NOT_FOUND", "TIER_LIMIT_EXCEEDED"],
        replay: ({ actor }, plan) => toCreated(actor, plan as LinkPlan),
      },
      schema: {
        tags,
        summary: "Create links to up to 100 files, by key or id",
        body: CreateLinksBody,
        response: { 200: CreatedLinks, 207: CreatedLinks, 404: withError(CreatedLinks) },
      },
    },
    async ({ actor, body, idempotency }, reply) => {
      const plan = await planLinks(deps, actor, body, (tx, saved) =>
        idempotency.remember(tx, statusOf(saved.links.length, saved.missing), saved),
      );
      const result = await toCreated(actor, plan);
      const status = statusOf(plan.links.length, plan.missing);
      return status === 404
        ? reply.code(404).send({ ...result, ...errorBody(notFound("These files were")) })
        : reply.code(status).send(result);
    },
  );

  app.post(
    "/files/links/revoke",
    {
      config: { errors: ["NOT_FOUND"] },
      schema: {
        tags,
        summary: "End the links of files, or all links and grants of an audience or of the environment",
        body: RevokeLinksBody,
        response: { 200: RevokedLinks, 207: RevokedLinks, 404: withError(RevokedLinks) },
      },
    },
    async ({ actor, body, idempotency }, reply) => {
      const done = await revokeLinks(deps, actor, body, async (tx, { revoked, missing }) => {
        const status = statusOf(revoked, missing);
        if (status === 404) return;
        await idempotency.remember(tx, status, { revoked, failures: missing.map(toFailure) });
      });
      const result = { revoked: done.revoked, failures: done.missing.map(toFailure) };
      const status = statusOf(done.revoked, done.missing);
      return status === 404
        ? reply.code(404).send({ ...result, ...errorBody(notFound("These files were")) })
        : reply.code(status).send(result);
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
        summary: "Grant the right to read all files of a route, a prefix or an audience",
        body: CreateGrantBody,
        response: { 200: Type.Object({ grant: Grant }) },
      },
    },
    async ({ actor, body, idempotency }) => {
      const facts = await planGrant(deps, actor, body, (tx, saved) => idempotency.remember(tx, 200, saved));
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
        summary: "Make the next read key current; links signed with the old one end",
        response: { 200: ReadKeys },
      },
    },
    async ({ actor: { projectId, environment }, idempotency }) =>
      rotateReadKeys(deps, { projectId, environment }, (tx) => idempotency.remember(tx, 200, {})),
  );
}
