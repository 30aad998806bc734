import express from "express";
import Fastify from "fastify";
import { type Context, Hono } from "hono";
import * as onExpress from "../../src/express.ts";
import * as onFastify from "../../src/fastify.ts";
import * as onHono from "../../src/hono.ts";
import * as onNext from "../../src/next.ts";
import { createRouteHandler } from "../../src/server.ts";
import { router } from "./router.ts";

const f = onExpress.createFileRouter<express.Request>();
const forExpress = {
  any: f({ middleware: ({ context }) => ({ agent: context.req.get("user-agent") ?? null }) }),
};

express().all("/api/upload", onExpress.createRouteHandler({ router: forExpress }));
// A router that asks for nothing of a framework runs on each.
express().all("/api/upload", onExpress.createRouteHandler({ router }));
export const plain: (request: Request) => Promise<Response> = createRouteHandler({ router });
export const { GET, POST } = onNext.createRouteHandler({ router });

// @ts-expect-error its middleware reads Express's request, which is not there
createRouteHandler({ router: forExpress });
// @ts-expect-error nor is it on Hono
onHono.createRouteHandler({ router: forExpress });

const onEvent = ({ type, file, projectId, messageId, attempt, signedAt }: onNext.WebhookEvent) => {
  const seen: ["upload.completed" | "test", number, string, string, number, Date] = [
    type,
    file.size,
    projectId,
    messageId,
    attempt,
    signedAt,
  ];
  return seen;
};
express().post("/hooks", onExpress.createWebhookHandler({ onEvent }));
new Hono().post("/hooks", onHono.createWebhookHandler({ onEvent }));
export const inHono: (context: Context) => Promise<Response> = onHono.createWebhookHandler({ onEvent });
export const webhook: { POST(request: Request): Promise<Response> } = {
  POST: onNext.createWebhookHandler({ onEvent, url: "https://app.example/hooks" }),
};
Fastify().register(onFastify.createWebhookPlugin({ path: "/hooks", onEvent }));
// @ts-expect-error there is no such field
onNext.createWebhookHandler({ onEvent: ({ file }) => file.sha256 });
