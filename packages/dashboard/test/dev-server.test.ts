// Needs its own process: it ends the process.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createServer, type ViteDevServer } from "vite";
import { createSessionToken } from "../../server/test/support/console-client.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";

let app: TestApp;
let vite: ViteDevServer;
let url: string;

before(async () => {
  app = await startApp({ database: "sqlite" });
  process.env["UPSTOW_PUBLIC_URL"] = app.url;
  const root = join(import.meta.dirname, "..");
  // Nothing is edited here, and a file that is added to the watch during the close keeps the process alive.
  const server = { host: "127.0.0.1", port: 0, watch: null };
  vite = await createServer({ root, logLevel: "error", server, optimizeDeps: { noDiscovery: true } });
  Reflect.deleteProperty(process.env, "UPSTOW_PUBLIC_URL");
  await vite.listen();
  const address = vite.httpServer?.address();
  assert.ok(typeof address === "object" && address !== null);
  url = `http://127.0.0.1:${address.port}`;
});
after(async () => {
  await vite.close();
  await app.close();
  // The bundler's own process outlives its server and keeps this one alive.
  setTimeout(() => process.exit(), 1_000);
});

test("the pages are served as they are edited, with what swaps them in the browser", async () => {
  const page = await (
    await fetch(`${url}/dashboard/x/live/files`, { headers: { accept: "text/html" } })
  ).text();
  assert.match(page, /\/dashboard\/@vite\/client/);
  assert.match(page, /\/dashboard\/app\/main\.tsx/);
  const script = await (await fetch(`${url}/dashboard/app/main.tsx`)).text();
  assert.match(script, /createRoot/);
});

test("what the pages call is answered by the running service, changes too", async () => {
  assert.equal((await fetch(`${url}/dashboard/api/session`)).status, 401);
  const { accountId } = await app.createTenant("pro");
  const cookie = `upstow_session=${await createSessionToken(app, accountId)}`;
  const create = (origin: string) =>
    fetch(`${url}/dashboard/api/projects`, {
      method: "POST",
      headers: { cookie, origin, "content-type": "application/json" },
      body: JSON.stringify({ name: "From a page that is being edited" }),
    });
  assert.equal((await create(url)).status, 201);
  assert.equal((await create("http://elsewhere.example")).status, 403);
});
