import { IdParam, Type } from "@upstow/contract";
import type { Deps } from "../deps.ts";
import type { ApiApp } from "../http/api-app.ts";
import { signalGone } from "../http/signal-gone.ts";
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

/** A project's own bucket, for its owner in the dashboard. Credentials go in and never come out. */
export function customerStorageRoutes(app: ApiApp, deps: Deps): void {
  const enter = (session: Session, projectId: string) =>
    enterProject(deps, session, { projectId, environment: "live" }, "owner");

  app.get("/projects/:id/storage", { schema }, async ({ session, params }) => {
    await enter(session, params.id);
    return { storage: await findStorage(deps, params.id) };
  });

  app.put(
    "/projects/:id/storage",
    { schema: { ...schema, body: StorageBody } },
    async ({ session, params, body }, reply) => {
      await enter(session, params.id);
      return { storage: await setStorage(deps, params.id, body, signalGone(reply.raw)) };
    },
  );

  app.post("/projects/:id/storage/probe", { schema }, async ({ session, params }, reply) => {
    await enter(session, params.id);
    return { probe: await probeStorage(deps, params.id, signalGone(reply.raw)) };
  });

  app.delete("/projects/:id/storage", { schema }, async ({ session, params }) => {
    await enter(session, params.id);
    await removeStorage(deps, params.id);
    return { ok: true };
  });
}
