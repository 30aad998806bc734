import { IdParam, Type } from "@upstow/contract";
import type { FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";
import { type ApiApp, signalGone, withAuthor } from "../http/request-context.ts";
import {
  checkCdnDomain,
  checkPath,
  proofOf,
  removeCdnDomain,
  setCdnDomain,
} from "../projects/cdn-domain/cdn-domain.ts";
import {
  findStorage,
  probeStorage,
  removeStorage,
  setStorage,
} from "../projects/customer-storage/customer-storage.ts";
import { enterProject } from "./access.ts";
import type { Session } from "./sessions.ts";

const schema = { hide: true, params: IdParam };
const text = Type.String({ minLength: 1, maxLength: 2048 });
const StorageBody = Type.Object({
  endpoint: Type.Optional(Type.Union([Type.String({ maxLength: 2048 }), Type.Null()])),
  region: Type.Optional(Type.String({ maxLength: 100 })),
  bucket: text,
  prefix: Type.Optional(Type.String({ maxLength: 200 })),
  forcePathStyle: Type.Optional(Type.Boolean()),
  accessKeyId: text,
  secretAccessKey: text,
});

/** A project's own bucket, for its owner in the dashboard. Credentials are write-only. */
export function customerStorageRoutes(app: ApiApp, deps: Deps): void {
  const enter = (session: Session, projectId: string) =>
    enterProject(deps, session, { projectId, environment: "live" }, "owner");

  app.get("/projects/:id/storage", { schema }, async ({ session, params }) => {
    await enter(session, params.id);
    return { storage: await findStorage(deps, params.id) };
  });

  app.put("/projects/:id/storage", { schema: { ...schema, body: StorageBody } }, async (request, reply) => {
    const { session, params, body } = request;
    await enter(session, params.id);
    const gone = signalGone(reply.raw);
    return { storage: await setStorage(withAuthor(deps, request), params.id, body, gone) };
  });

  app.post("/projects/:id/storage/probe", { schema }, async ({ session, params }, reply) => {
    await enter(session, params.id);
    return { probe: await probeStorage(deps, params.id, signalGone(reply.raw)) };
  });

  app.delete("/projects/:id/storage", { schema }, async (request) => {
    const { session, params } = request;
    await enter(session, params.id);
    await removeStorage(withAuthor(deps, request), params.id);
    return { ok: true };
  });
}

const DomainBody = Type.Object({ domain: Type.String({ minLength: 1, maxLength: 2048 }) });
const NonceParam = Type.Object({ nonce: Type.String({ minLength: 1, maxLength: 100 }) });

/** The domain of a project's files, for its owner in the dashboard. */
export function cdnDomainRoutes(app: ApiApp, deps: Deps): void {
  const path = "/projects/:id/cdn-domain";
  const enter = (session: Session, projectId: string) =>
    enterProject(deps, session, { projectId, environment: "live" }, "owner");

  app.put(path, { schema: { ...schema, body: DomainBody } }, async (request) => {
    const { session, params, body } = request;
    await enter(session, params.id);
    return { ownUrl: await setCdnDomain(withAuthor(deps, request), params.id, body.domain) };
  });

  app.post(`${path}/check`, { schema }, async ({ session, params }) => {
    await enter(session, params.id);
    return { problem: await checkCdnDomain(deps, params.id) };
  });

  app.delete(path, { schema }, async (request) => {
    const { session, params } = request;
    await enter(session, params.id);
    await removeCdnDomain(withAuthor(deps, request), params.id);
    return { ok: true };
  });
}

/** The URL that the check requests through the domain. */
export function cdnCheckRoutes(app: FastifyInstance, deps: Deps): void {
  app.get<{ Params: { nonce: string } }>(
    `${checkPath}:nonce`,
    { schema: { hide: true, params: NonceParam }, config: { customDomain: "always" } },
    async ({ params }, reply) =>
      reply
        .type("text/plain; charset=utf-8")
        .header("cache-control", "no-store")
        .send(proofOf(deps.keyring, params.nonce)[0]),
  );
}
