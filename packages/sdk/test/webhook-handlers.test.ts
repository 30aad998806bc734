import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import express from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import { signDelivery } from "../../server/src/webhooks/sign-delivery.ts";
import * as onExpress from "../src/express.ts";
import * as onFastify from "../src/fastify.ts";
import { toWebRequest } from "../src/handler/node-request.ts";
import * as onHono from "../src/hono.ts";
import * as onNext from "../src/next.ts";
import * as onSvelteKit from "../src/sveltekit.ts";
import type { WebhookEvent, WebhookOptions } from "../src/webhooks/index.ts";
import { expressParsers } from "./support/express-parsers.ts";

const createKey = () => `whsec_${randomBytes(32).toString("base64")}`;
const keys = { currentKey: createKey(), nextKey: createKey() };
const testKey = createKey();
const url = "https://app.example/hooks/upstow";
const metadata = JSON.parse(
  '{"b":1,"1":[1e21,0.1,-0,"ü\\ud83d\\ude00"],"__proto__":null,"a":{},"route":"video"}',
);
const file = {
  id: "f1",
  key: "p1/docs/u/ä.txt",
  name: "ä.txt",
  size: 5,
  type: "text/plain",
  url: "https://x",
};
const payload = JSON.stringify({ file: { ...file, metadata }, projectId: "p1" });

function sign(
  event: "upload.completed" | "test" = "upload.completed",
  body = payload,
  environment: "live" | "test" = "live",
): Record<string, string> {
  const ids = { messageId: "msg_1", attemptId: "att_1", attempt: 2, retried: 1 };
  const signed = signDelivery(
    { ...ids, event, environment, routeSlug: "docs", url, body: Buffer.from(body) },
    { current: environment === "live" ? keys.currentKey : testKey, previous: null },
    Date.now(),
  );
  return { ...signed, "content-type": "application/json" };
}

/** What every helper has to do, over real HTTP. `mount` serves a handler with these options at `/hooks/upstow`. */
async function drive(mount: (options: WebhookOptions) => Promise<{ origin: string; close(): unknown }>) {
  const events: WebhookEvent[] = [];
  const errors: unknown[] = [];
  let onEvent = (event: WebhookEvent): void => void events.push(event);
  const options = { url, ...keys, onEvent: (event: WebhookEvent) => onEvent(event), onError };
  function onError(error: unknown): void {
    errors.push(error);
  }
  async function post(site: { origin: string }, headers: Record<string, string>, body = payload) {
    const answer = await fetch(`${site.origin}/hooks/upstow`, { method: "POST", headers, body });
    const shown = (await answer.json()) as { ok?: true; error?: { type: string; code: string } };
    return [answer.status, shown.error?.code ?? shown.ok];
  }

  const site = await mount(options);
  assert.deepEqual(await post(site, sign()), [200, true]);
  assert.deepEqual(await post(site, sign("test")), [200, true]);
  const [real, test] = events;
  assert.deepEqual(
    [real?.type, real?.projectId, real?.messageId, real?.attempt, real?.route],
    ["upload.completed", "p1", "msg_1", 2, "video"],
  );
  assert.deepEqual(real?.file, JSON.parse(payload).file);
  assert.deepEqual([real?.event, real?.environment], ["upload.completed", "live"]);
  assert.deepEqual([test?.type, test?.event, test?.environment], ["test", "webhook.test", "live"]);
  assert.deepEqual(await post(site, sign("upload.completed", payload, "test")), [401, "SIGNATURE_INVALID"]);
  assert.deepEqual(await post(site, { ...sign("test"), "delivery-event": "upload.completed" }), [
    401,
    "EVENT_MISMATCH",
  ]);

  const changed = payload.replace("ä.txt", "o.txt");
  assert.deepEqual(await post(site, sign(), changed), [401, "BODY_MISMATCH"]);
  assert.deepEqual(await post(site, { "content-type": "application/json" }), [401, "SIGNATURE_MISSING"]);
  assert.deepEqual(await post(site, { ...sign(), "delivery-message-id": "msg_2" }), [
    401,
    "MESSAGE_MISMATCH",
  ]);
  assert.equal(events.length, 2);
  assert.deepEqual(errors, []);
  onEvent = () => {
    throw new Error("the disk is full");
  };
  assert.deepEqual(await post(site, sign()), [500, "CALLBACK_FAILED"]);
  assert.match(String(errors[0]), /the disk is full/);
  await site.close();

  const elsewhere = await mount({ ...options, url: "https://app.example/other" });
  assert.deepEqual(await post(elsewhere, sign()), [401, "URL_MISMATCH"]);
  await elsewhere.close();
  const both = await mount({ ...options, testCurrentKey: testKey });
  onEvent = (event) => void events.push(event);
  assert.deepEqual(await post(both, sign("upload.completed", payload, "test")), [200, true]);
  assert.deepEqual([events[2]?.type, events[2]?.environment], ["upload.completed", "test"]);
  await both.close();
  const unset = await mount({ onEvent, onError });
  assert.deepEqual(await post(unset, sign()), [500, "BAD_CONFIGURATION"]);
  assert.match(String(errors[1]), /UPSTOW_WEBHOOK_URL/);
  await unset.close();
}

async function listen(server: Server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What Next and SvelteKit do around their handlers. */
function serveWeb(handle: (request: Request) => Promise<Response>): Server {
  return createServer(async (node, response) => {
    const answer = await handle(await toWebRequest(node, undefined, node));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(await answer.text());
  });
}

const large = "x".repeat(2 * 1024 * 1024);

describe("webhook handlers", () => {
  for (const [where, parser] of Object.entries(expressParsers)) {
    it(`Express, ${where}`, async () => {
      await drive((options) => {
        const app = express();
        if (parser !== null) app.use(parser);
        app.post("/hooks/upstow", onExpress.createWebhookHandler(options));
        return listen(createServer(app));
      });
    });
  }

  it("Fastify, beside routes that have their bodies parsed", async () => {
    await drive(async (options) => {
      const app = Fastify();
      app.register(onFastify.createWebhookPlugin({ path: "/hooks/upstow", ...options }));
      app.post("/other", async ({ body }) => ({ got: body }));
      const origin = await app.listen({ host: "127.0.0.1", port: 0 });
      const answer = await fetch(`${origin}/other`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"a":1}',
      });
      assert.deepEqual(await answer.json(), { got: { a: 1 } });
      return { origin, close: () => app.close() };
    });
  });

  for (const isRead of [false, true]) {
    it(`Hono, ${isRead ? "behind a middleware that has read the body" : "alone"}`, async () => {
      await drive((options) => {
        const app = new Hono();
        if (isRead) {
          app.use(async (context, next) => {
            await context.req.text();
            await next();
          });
        }
        app.post("/hooks/upstow", onHono.createWebhookHandler(options));
        return listen(serveWeb(async (request) => app.fetch(request)));
      });
    });
  }

  it("Next", async () => {
    await drive((options) => listen(serveWeb(onNext.createWebhookHandler(options))));
  });

  it("SvelteKit", async () => {
    await drive((options) => {
      const handle = onSvelteKit.createWebhookHandler(options);
      return listen(serveWeb((request) => handle({ request })));
    });
  });

  it("hear senders of bodies that are too large out, and answer 413", async () => {
    const app = express().post("/hooks", onExpress.createWebhookHandler({ onEvent() {} }));
    const site = await listen(createServer(app));
    const fastify = Fastify();
    fastify.register(onFastify.createWebhookPlugin({ path: "/hooks", onEvent() {} }));
    const origins = [site.origin, await fastify.listen({ host: "127.0.0.1", port: 0 })];
    for (const origin of origins) {
      // Of unknown length, so that no framework can refuse it by its headers.
      const body = new Blob([large]).stream();
      const answer = await fetch(`${origin}/hooks`, { method: "POST", body, duplex: "half" });
      assert.equal(answer.status, 413);
    }
    site.close();
    await fastify.close();
  });

  it("answers other methods with 405 and bodies that are too large with 413", async () => {
    const handle = onNext.createWebhookHandler({ onEvent() {}, url, ...keys });
    const wrong = await handle(new Request(url));
    assert.deepEqual([wrong.status, wrong.headers.get("allow")], [405, "POST"]);
    assert.equal((await handle(new Request(url, { method: "POST", body: large }))).status, 413);
  });

  it("take their settings from the environment when asked, not when imported", async (t) => {
    const seen: (string | null)[] = [];
    const handle = onNext.createWebhookHandler({ onEvent: ({ environment }) => seen.push(environment) });
    const variables = {
      UPSTOW_WEBHOOK_URL: url,
      UPSTOW_SIGNING_KEY: keys.currentKey,
      UPSTOW_NEXT_SIGNING_KEY: keys.nextKey,
      UPSTOW_TEST_SIGNING_KEY: testKey,
    };
    t.after(() => {
      for (const name of Object.keys(variables)) delete process.env[name];
    });
    Object.assign(process.env, variables);
    for (const environment of ["live", "test"] as const) {
      const headers = sign("upload.completed", payload, environment);
      const answer = await handle(new Request(url, { method: "POST", headers, body: payload }));
      assert.equal(answer.status, 200);
    }
    assert.deepEqual(seen, ["live", "test"]);
  });
});
