import express from "express";
import * as onExpress from "../../src/express.ts";
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
