import {
  ANONYMOUS_BODY_MAX_BYTES,
  ID_MAX,
  RequestUploadBody,
  SINGLE_URL_SEC,
  Type,
  WELCOME_EVENT_SEC,
  WELCOME_KEEP_SEC,
  WELCOME_UPLOAD_MAX_BYTES,
  WELCOME_UPLOADS,
} from "@upstow/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { toCompletedFile } from "../../files/serialize.ts";
import { completeSingle } from "../../files/uploads/finish-upload.ts";
import { requestUpload } from "../../files/uploads/request-upload.ts";
import { typed } from "../../http/request-context.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import { addressGroup } from "../../kernel/net/cidr-list.ts";
import { rateLimited } from "../../kernel/rate-limiter.ts";
import { cdnFor } from "../../projects/file-url.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { type Alarm, MESSAGES_CHANNEL } from "../../webhooks/alarm.ts";
import { messageIdOf } from "../../webhooks/enqueue.ts";
import { createOpenStreams } from "../../webhooks/open-streams.ts";
import { isOwnOrigin } from "../mcp-routes.ts";
import { findUploadEvent, findWelcome, type Visitor } from "./sandbox.ts";

const schema = { hide: true };
const bodyLimit = ANONYMOUS_BODY_MAX_BYTES;
const { fileName, contentType } = RequestUploadBody.properties;
const UploadBody = Type.Object({
  fileName,
  contentType,
  fileSize: Type.Integer({ minimum: 1, maximum: WELCOME_UPLOAD_MAX_BYTES }),
});
const fileId = Type.String({ minLength: 1, maxLength: ID_MAX });
const CompleteBody = Type.Object({ fileId });

/** Types that browsers display without running them. This host must not serve untrusted pages and scripts. */
const allowedTypes =
  /^(?:image\/(?!svg)|audio\/|video\/|application\/(?:pdf|json|zip)$|text\/(?:plain|csv|markdown)$)/;

/** The dropzone of the welcome page: small files of visitors without a key, into the owner's sandbox. */
export function welcomeRoutes(app: FastifyInstance, deps: Deps): void {
  const api = typed(app);
  const streams = createOpenStreams();
  app.addHook("onReady", () => deps.db.listen(MESSAGES_CHANNEL, streams.ringAll));
  app.addHook("preClose", () => streams.closeAll());

  async function enter(request: FastifyRequest): Promise<Actor> {
    const welcome = await findWelcome(deps, visitorOf(request));
    if (welcome.state !== "ready") throw notOpen(welcome.state);
    if (!isOwnOrigin(deps.config, request.host, request.headers.origin)) throw foreignPage();
    return welcome.actor;
  }

  api.get("/welcome/state", { schema }, async (request, reply) => {
    const { state } = await findWelcome(deps, visitorOf(request));
    reply.header("cache-control", "no-store");
    return { state, maxBytes: WELCOME_UPLOAD_MAX_BYTES };
  });

  api.post(
    "/welcome/uploads",
    { bodyLimit, schema: { ...schema, body: UploadBody } },
    async (request, reply) => {
      const actor = await enter(request);
      if (!allowedTypes.test(request.body.contentType))
        throw invalid("contentType", "must be an image, video, audio, PDF, ZIP or text file");
      const { own, shared } = await deps.limiter.hitBoth(
        { name: `welcome:${addressGroup(request.clientAddress)}`, limit: WELCOME_UPLOADS.perAddress },
        { name: "welcome", limit: WELCOME_UPLOADS.total },
      );
      for (const hit of [own, shared]) if (hit !== null && !hit.isAllowed) throw rateLimited(hit);
      const wanted = {
        ...request.body,
        routeSlug: "default",
        metadata: { uploadedFrom: "welcome page" },
        expiresIn: WELCOME_KEEP_SEC,
      };
      const file = await requestUpload(deps, actor, wanted, async () => {});
      request.fileId = file.id;
      reply.header("cache-control", "no-store");
      return {
        fileId: file.id,
        uploadUrl: await (await deps.stores.get(file.store)).presignPut({
          key: objectKey(file),
          contentType: file.type,
          sizeBytes: file.size_bytes,
          expiresInSec: SINGLE_URL_SEC,
        }),
      };
    },
  );

  api.post(
    "/welcome/uploads/complete",
    { bodyLimit, schema: { ...schema, body: CompleteBody } },
    async (request, reply) => {
      const actor = await enter(request);
      request.fileId = request.body.fileId;
      const file = await completeSingle(deps, actor, request.body, async () => {});
      reply.header("cache-control", "no-store");
      return { file: toCompletedFile(cdnFor(deps.config, actor), file) };
    },
  );

  api.get(
    "/welcome/events/:fileId",
    { exposeHeadRoute: false, schema: { ...schema, params: Type.Object({ fileId }) } },
    async (request, reply) => {
      const actor = await enter(request);
      const wanted = { projectId: actor.projectId, fileId: request.params.fileId };
      const owner = { keyId: actor.keyId, accountId: "welcome" };
      const stream = streams.open(owner, (alarm, signal) => waitForEvent(deps, wanted, alarm, signal));
      if (stream === null) throw tooMany();
      return reply
        .type("text/event-stream; charset=utf-8")
        .headers({ "cache-control": "no-store", "x-accel-buffering": "no", connection: "close" })
        .send(stream);
    },
  );
}

function visitorOf(request: FastifyRequest): Visitor {
  const { headers, clientAddress, hostname } = request;
  const isForwarded = ["forwarded", "x-forwarded-for", "x-real-ip", "via"].some((name) => name in headers);
  return { address: clientAddress, hostname, isForwarded };
}

/** The one event of the upload, when it is committed; nothing if it takes too long. */
async function* waitForEvent(
  deps: Deps,
  wanted: { projectId: string; fileId: string },
  alarm: Alarm,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield ": waiting\n\n";
  const endsAt = performance.now() + WELCOME_EVENT_SEC * 1000;
  while (!signal.aborted && performance.now() < endsAt) {
    const event = await deps.db.get(findUploadEvent, wanted);
    if (event === null) {
      await alarm.sleep(2_000);
      continue;
    }
    const { id, event: name, body, created_at } = event;
    const data = { messageId: messageIdOf(id), createdAt: isoTime(created_at), body: JSON.parse(body) };
    yield `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    return;
  }
}

function notOpen(state: "unclaimed" | "off"): AppError {
  return state === "unclaimed"
    ? new AppError("FORBIDDEN", "This installation has no owner yet.", {
        suggestion: "Open the sign-in link from the first start, or run 'upstow account login-link'.",
      })
    : new AppError("FORBIDDEN", "Uploads on the welcome page are off.", {
        suggestion: "The operator can change that with UPSTOW_WELCOME_UPLOADS.",
      });
}

function foreignPage(): AppError {
  return new AppError("FORBIDDEN", "Only the welcome page itself can upload here.", {
    suggestion: "Use an API key: POST /api/v1/upload/request.",
  });
}

function tooMany(): AppError {
  return new AppError("RATE_LIMITED", "Too many visitors are waiting for events. Retry after 60 seconds.", {
    headers: { "retry-after": "60" },
  });
}
