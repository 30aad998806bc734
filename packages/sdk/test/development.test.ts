import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { startService, type TestService } from "./support/start-service.ts";

const sources = new URL("../src/", import.meta.url);
const stream = "GET /api/v1/events/stream";

/** A developer's server: it ends by itself when it has nothing more to do. */
async function run(code: string, env: Record<string, string>): Promise<string> {
  const prelude = `import { createUpstow } from "${new URL("index.ts", sources)}";
    import { createWebhookHandler } from "${new URL("webhooks/index.ts", sources)}";
    import { createFileRouter, createRouteHandler } from "${new URL("server.ts", sources)}";
    const upload = (name) => createUpstow().upload(new Blob([name]), { name, metadata: { by: "ann" } });
    const ready = () => new Promise((resolve) => { console.info = (line) => resolve(console.log(line)); });`;
  const args = ["--input-type=module", "--eval", `${prelude}\n${code}`];
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, args, { env: { PATH, NODE_COMPILE_CACHE, ...env } });
  const output: Buffer[] = [];
  for (const pipe of [child.stdout, child.stderr]) pipe.on("data", (bytes: Buffer) => output.push(bytes));
  await once(child, "close");
  return Buffer.concat(output).toString();
}

describe("while an application is developed", () => {
  let service: TestService;
  let env: Record<string, string>;
  before(async () => {
    service = await startService();
    env = { UPSTOW_URL: service.storage.url, UPSTOW_API_KEY: service.app.owner.test };
  });
  after(() => service.close());
  beforeEach(() => {
    service.storage.calls.length = 0;
  });
  const countStreams = () => service.storage.calls.filter((call) => call === stream).length;

  it("hands events to webhook handlers, once however often they are loaded, and lets the process end", async () => {
    const output = await run(
      `const isReady = ready();
      // Holds the process until the event is there, as a server would.
      const server = setInterval(() => {}, 1000);
      const onEvent = (name) => ({ type, route, file, messageId, environment, attempt }) => {
        console.log(name, type, route, file.name, file.metadata.by, messageId !== "", environment, attempt);
        clearInterval(server);
      };
      createWebhookHandler({ onEvent: onEvent("old") });
      createWebhookHandler({ onEvent: onEvent("new") });
      createWebhookHandler({ url: "http://localhost/other", onEvent: () => { throw new Error("mine") }, onError: ({ message }) => console.log(message) });
      await isReady;
      await upload("a.txt");`,
      env,
    );
    assert.deepEqual(output.trim().split("\n"), [
      `upstow: in development, events from ${service.storage.url} go directly to your webhook handlers. Nothing else is needed.`,
      "new upload.completed null a.txt ann true test 1",
      "mine",
    ]);
    assert.equal(countStreams(), 1);
  });

  it("makes a framework load a handler that nobody has called yet", async () => {
    const output = await run(
      `import { createServer } from "node:http";
      const server = createServer((request, response) => {
        const onEvent = ({ file }) => { console.log(request.method, file.name); server.close(); };
        createWebhookHandler({ onEvent });
        response.setHeader("connection", "close").end();
      }).listen(0, "127.0.0.1", async () => {
        process.env.UPSTOW_WEBHOOK_URL = "http://127.0.0.1:" + server.address().port;
        const isReady = ready();
        const handle = createRouteHandler({ router: { any: createFileRouter()({}) } });
        await handle(new Request("http://localhost/api/upload"));
        await isReady;
        await upload("b.txt");
      });`,
      env,
    );
    assert.match(output, /\nGET b\.txt\n$/);
    assert.equal(countStreams(), 1);
  });

  it("opens no stream in production, in tests, and with a live key unless it is told that this is development", async () => {
    const code = `createWebhookHandler({ onEvent() {} });
      const handle = createRouteHandler({ router: { any: createFileRouter()({}) } });
      await new Promise((resolve) => setTimeout(resolve, 50));
      await handle(new Request("http://localhost/api/upload"));
      await upload("c.txt");`;
    const live = { ...env, UPSTOW_API_KEY: service.app.owner.live };
    for (const given of [{ ...env, NODE_ENV: "production" }, { ...env, NODE_ENV: "test" }, live])
      assert.equal(await run(code, given), "");
    assert.equal(countStreams(), 0);
    await run(code, { ...live, NODE_ENV: "development" });
    assert.equal(countStreams(), 1);
  });

  it("says nothing of an instance that has no stream or does not answer, and waits for neither", async () => {
    const server = createServer((_, response) => response.writeHead(404).end());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const code = `createWebhookHandler({ onEvent() {} });
      await new Promise((resolve) => setTimeout(resolve, 300));`;
    const withUrl = (url: string) => run(code, { ...env, UPSTOW_URL: url });
    try {
      assert.equal(await withUrl(`http://127.0.0.1:${port}`), "");
      assert.equal(await withUrl("http://127.0.0.1:9"), "");
      assert.equal(await run(code, {}), "");
    } finally {
      server.close();
    }
  });
});
