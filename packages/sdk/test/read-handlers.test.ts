import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import express from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import * as onExpress from "../src/express.ts";
import * as onFastify from "../src/fastify.ts";
import { toWebRequest } from "../src/handler/node-request.ts";
import type { ReadAnswer } from "../src/handler/protocol.ts";
import * as onHono from "../src/hono.ts";
import { createUpstow } from "../src/index.ts";
import * as onNext from "../src/next.ts";
import * as onSvelteKit from "../src/sveltekit.ts";
import { MB, startService, type TestService } from "./support/start-service.ts";

const bytes = Buffer.alloc(3 * MB, "private bytes ");
const isAnn = (user: unknown) => user === "ann";

/** What Next and SvelteKit do around their handlers. */
function serveWeb(handle: (request: Request) => Promise<Response> | Response): Server {
  return createServer(async (node, response) => {
    const answer = await handle(await toWebRequest(node, undefined, node));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(node.method === "HEAD" ? undefined : Buffer.from(await answer.arrayBuffer()));
  });
}

describe("read handlers", () => {
  let service: TestService;
  let file: { key: string; id: string };
  before(async () => {
    service = await startService();
    const upstow = createUpstow(options());
    const source = new File([bytes], "größe 1.txt", { type: "text/plain" });
    file = await upstow.upload(source, { access: "private" });
  });
  after(() => service.close());
  const options = () => ({ apiKey: service.apiKey, baseUrl: service.app.url });

  async function listen(server: Server): Promise<string> {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.push(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** Each framework, with both ways to send. */
  const sites: Record<string, (send: "redirect" | "proxy") => Promise<string>> = {
    Next: (send) => {
      const authorize = ({ request }: { request: Request }) => isAnn(request.headers.get("x-user"));
      const { GET, HEAD } = onNext.createReadHandler({ ...options(), send, authorize });
      return listen(serveWeb((request) => (request.method === "HEAD" ? HEAD : GET)(request)));
    },
    SvelteKit: (send) => {
      const { GET } = onSvelteKit.createReadHandler<{ request: Request; locals: { user: string | null } }>({
        ...options(),
        send,
        authorize: async ({ context }) => isAnn(context.locals.user),
      });
      return listen(serveWeb((request) => GET({ request, locals: { user: request.headers.get("x-user") } })));
    },
    Hono: (send) => {
      const app = new Hono();
      const authorize = ({ request }: { request: Request }) => isAnn(request.headers.get("x-user"));
      app.get("/files/*", onHono.createReadHandler({ ...options(), send, authorize }));
      return listen(serveWeb((request) => app.fetch(request)));
    },
    Express: (send) => {
      const app = express();
      app.get(
        "/files/{*key}",
        onExpress.createReadHandler<express.Request>({
          ...options(),
          send,
          authorize: ({ context }) => isAnn(context.req.header("x-user")),
        }),
      );
      return listen(createServer(app));
    },
    Fastify: async (send) => {
      const app = Fastify();
      const authorize = ({ request }: { request: Request }) => isAnn(request.headers.get("x-user"));
      app.get("/files/*", onFastify.createReadHandler({ ...options(), send, authorize }));
      const url = await app.listen({ host: "127.0.0.1", port: 0 });
      servers.push(app.server);
      return url;
    },
  };

  /** What scripts ask for, who cannot send the headers of a session with an image. */
  async function expectUrl(path: string, send: "redirect" | "proxy"): Promise<void> {
    const before = Date.now();
    const ask = (accept: string) => fetch(path, { headers: { "x-user": "ann", accept }, redirect: "manual" });
    const answer = await ask("application/json");
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(answer.headers.get("vary"), "accept");
    const { url, expiresAt, expiresIn } = (await answer.json()) as ReadAnswer;
    if (send === "redirect") {
      assert.equal(expiresIn, 60);
      const expiresMs = Date.parse(expiresAt ?? "");
      assert.ok(expiresMs >= before + 60_000 && expiresMs <= Date.now() + 60_000, String(expiresAt));
    } else assert.deepEqual([expiresAt, expiresIn], [null, null]);
    const found = await fetch(new URL(url, path), { headers: { "x-user": "ann" } });
    assert.ok(bytes.equals(Buffer.from(await found.arrayBuffer())));
    assert.equal(found.url === path, send === "proxy");
    // As an HTTP client's default, it is no question for the URL.
    const usual = await ask("application/json, text/plain, */*");
    assert.equal(usual.status, send === "redirect" ? 302 : 200);
    assert.equal(usual.headers.get("vary"), "accept");
    await usual.body?.cancel();
  }

  for (const [name, start] of Object.entries(sites))
    for (const send of ["redirect", "proxy"] as const)
      it(`${name}, ${send}: the file for whom the application lets in, and no file for others`, async () => {
        const base = `${await start(send)}/files`;
        const path = `${base}/${file.key.split("/").map(encodeURIComponent).join("/")}`;
        const read = (url: string, headers = {}) => fetch(url, { headers: { "x-user": "ann", ...headers } });
        for (const url of [path, `${path}/`, `${base}/${file.id}`]) {
          const answer = await read(url);
          assert.equal(answer.status, 200);
          assert.ok(bytes.equals(Buffer.from(await answer.arrayBuffer())));
          assert.equal(answer.url === url, send === "proxy");
          assert.equal(answer.headers.get("cache-control"), "private, max-age=0, must-revalidate");
        }
        const range = await read(path, { range: "bytes=10-19" });
        assert.deepEqual([range.status, await range.text()], [206, bytes.toString("utf8", 10, 20)]);
        await expectUrl(path, send);
        const json = { accept: "application/json" };
        const strangers = [
          await read(path, { "x-user": "bob" }),
          await read(path, { "x-user": "bob", ...json }),
          await read(`${base}/nothing`),
          await read(`${base}/nothing`, json),
        ];
        for (const answer of strangers) {
          assert.equal(answer.status, 404);
          assert.equal(((await answer.json()) as { error: { code: string } }).error.code, "NOT_FOUND");
        }
      });

  it("tell the application, and not the browser, what went wrong", async () => {
    const errors: unknown[] = [];
    const { GET } = onNext.createReadHandler({
      ...options(),
      authorize: () => {
        throw new Error("the session store is away");
      },
      onError: (error) => errors.push(error),
    });
    const answer = await GET(new Request(`http://site.example/files/${file.id}`));
    assert.equal(answer.status, 500);
    assert.doesNotMatch(await answer.text(), /session store/);
    assert.equal(errors.length, 1);
    const refusing = onNext.createReadHandler({
      ...options(),
      authorize: () => {
        throw new onNext.UpstowAuthError();
      },
    });
    const refused = await refusing.GET(new Request(`http://site.example/files/${file.id}`));
    assert.equal(refused.status, 401);
    const posted = await GET(new Request(`http://site.example/files/${file.id}`, { method: "POST" }));
    assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"]);
  });
});
