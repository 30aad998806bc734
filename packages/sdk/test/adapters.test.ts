import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, before, describe, it } from "node:test";
import express from "express";
import Fastify, { type FastifyRequest } from "fastify";
import { type Context, Hono } from "hono";
import { createUploader } from "../src/client/index.ts";
import * as onExpress from "../src/express.ts";
import * as onFastify from "../src/fastify.ts";
import { toWebRequest } from "../src/handler/node-request.ts";
import * as onHono from "../src/hono.ts";
import * as onNext from "../src/next.ts";
import * as onSvelteKit from "../src/sveltekit.ts";
import { expressParsers } from "./support/express-parsers.ts";
import { MB, startService, type TestService } from "./support/start-service.ts";

/** Uploads both ways through the endpoint and checks who the callback thinks it was. */
async function drive(endpoint: string): Promise<void> {
  const uploader = createUploader({ endpoint, headers: async () => ({ "x-user": "ann" }) });
  const files = [new File(["small"], "small.txt"), new File([new Uint8Array(11 * MB)], "large.bin")];
  const stored = await uploader.upload("any", files);
  assert.deepEqual(
    stored.map((file) => [file.name, file.result]),
    [
      ["small.txt", { user: "ann" }],
      ["large.bin", { user: "ann" }],
    ],
  );
  const stranger = createUploader({ endpoint });
  await assert.rejects(stranger.upload("any", files), { code: "UNAUTHORIZED", status: 401 });
  assert.deepEqual(Object.keys(await uploader.getRoutes()), ["any"]);
}

function check(user: unknown): { user: string } {
  if (typeof user !== "string") throw new onNext.UpstowAuthError();
  return { user };
}

async function listen(server: Server): Promise<{ url: string; close(): void }> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What Next and SvelteKit do around their handlers. */
function serveWeb(handlers: Record<string, (request: Request) => Promise<Response>>): Server {
  return createServer(async (node, response) => {
    const request = await toWebRequest(node, undefined, node);
    const answer = await handlers[request.method]?.(request);
    response.writeHead(answer?.status ?? 405, Object.fromEntries(answer?.headers ?? []));
    response.end(await answer?.text());
  });
}

describe("adapters", () => {
  let service: TestService;
  const key = () => ({ apiKey: service.apiKey, baseUrl: service.app.url });
  before(async () => {
    service = await startService();
  });
  after(() => service.close());

  for (const [where, parser] of Object.entries(expressParsers)) {
    it(`Express, ${where}`, async () => {
      const f = onExpress.createFileRouter<express.Request>();
      const router = {
        any: f({
          middleware: ({ context }) => check(context.req.header("x-user")),
          onUploadComplete: ({ metadata }) => metadata,
        }),
      };
      const app = express();
      if (parser !== null) app.use(parser);
      app.all("/api/upload", onExpress.createRouteHandler({ router, ...key() }));
      const site = await listen(createServer(app));
      await drive(`${site.url}/api/upload`);
      site.close();
    });
  }

  it("Node's own server, without Express", async () => {
    const f = onExpress.createFileRouter();
    const router = {
      any: f({
        middleware: ({ context }) => check(context.req.headers["x-user"]),
        onUploadComplete: ({ metadata }) => metadata,
      }),
    };
    const handler = onExpress.createRouteHandler({ router, ...key() });
    const lost = Promise.withResolvers<void>();
    const site = await listen(
      createServer((req, res) => {
        req.once("close", lost.resolve);
        handler(req, res);
      }),
    );
    // A client that goes in the middle of its body does not end the process.
    const { port } = new URL(site.url);
    const client = connect(Number(port), "127.0.0.1", () => {
      client.write("POST /api/upload HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{");
      client.end();
    });
    await lost.promise;
    await drive(`${site.url}/api/upload`);
    site.close();
  });

  it("Express, behind a proxy that speaks HTTPS", async () => {
    let url = "";
    const f = onExpress.createFileRouter();
    const middleware = ({ request }: { request: Request }) => {
      url = request.url;
      throw new onExpress.UpstowAuthError();
    };
    const app = express().set("trust proxy", "loopback");
    app.use("/api", onExpress.createRouteHandler({ router: { any: f({ middleware }) }, ...key() }));
    const site = await listen(createServer(app));
    const headers = { "content-type": "application/json", "x-forwarded-proto": "https" };
    const files = [{ name: "a", size: 1, type: "text/plain" }];
    const body = JSON.stringify({ action: "begin", route: "any", files });
    const answer = await fetch(`${site.url}/api/upload`, { method: "POST", headers, body });
    site.close();
    assert.equal(answer.status, 401);
    assert.equal(url, `${site.url.replace("http:", "https:")}/api/upload`);
  });

  it("Fastify", async () => {
    const f = onFastify.createFileRouter<FastifyRequest>();
    const router = {
      any: f({
        middleware: ({ context }) => check(context.request.headers["x-user"]),
        onUploadComplete: ({ metadata }) => metadata,
      }),
    };
    const app = Fastify();
    const handler = onFastify.createRouteHandler({ router, ...key() });
    app.route({ method: ["GET", "POST"], url: "/api/upload", handler });
    await drive(`${await app.listen({ host: "127.0.0.1", port: 0 })}/api/upload`);
    await app.close();
  });

  for (const isRead of [false, true]) {
    it(`Hono, ${isRead ? "behind" : "without"} a middleware that reads the body`, async () => {
      const f = onHono.createFileRouter<Context>();
      const router = {
        any: f({
          middleware: ({ context }) => check(context.req.header("x-user")),
          onUploadComplete: ({ metadata }) => metadata,
        }),
      };
      const app = new Hono();
      if (isRead) {
        app.post("*", async ({ req }, next) => {
          await req.json();
          await next();
        });
      }
      app.on(["GET", "POST"], "/api/upload", onHono.createRouteHandler({ router, ...key() }));
      const fetchApp = async (request: Request) => app.fetch(request);
      const site = await listen(serveWeb({ GET: fetchApp, POST: fetchApp }));
      await drive(`${site.url}/api/upload`);
      site.close();
    });
  }

  it("Next", async () => {
    const f = onNext.createFileRouter();
    const router = {
      any: f({
        middleware: ({ request }) => check(request.headers.get("x-user") ?? undefined),
        onUploadComplete: ({ metadata }) => metadata,
      }),
    } satisfies onNext.FileRouter;
    const site = await listen(serveWeb(onNext.createRouteHandler({ router, ...key() })));
    await drive(site.url);
    site.close();
  });

  it("SvelteKit", async () => {
    interface Event {
      request: Request;
      locals: { user: string | null };
    }
    const f = onSvelteKit.createFileRouter<Event>();
    const router = {
      any: f({
        middleware: ({ context }) => check(context.locals.user ?? undefined),
        onUploadComplete: ({ metadata }) => metadata,
      }),
    };
    const { GET, POST } = onSvelteKit.createRouteHandler({ router, ...key() });
    const toEvent = (request: Request) => ({ request, locals: { user: request.headers.get("x-user") } });
    const site = await listen(
      serveWeb({ GET: (request) => GET(toEvent(request)), POST: (request) => POST(toEvent(request)) }),
    );
    await drive(site.url);
    site.close();
  });
});
