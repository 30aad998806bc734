import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, it } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { pino } from "pino";
import { createTerminalLog, logFormat } from "../src/app/log-output.ts";
import { createSessionToken } from "./support/console-client.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import { uploadFile } from "./support/upload.ts";
import { until } from "./support/webhooks/until.ts";

let app: TestApp;
before(async () => {
  app = await startApp({ env: { UPSTOW_TRUSTED_PROXIES: "127.0.0.1" } });
});
after(() => app.close());

const throughProxy = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https" };

/** The line of the request that `work` marks with this id. */
async function lineOf(requestId: string, work: () => Promise<unknown>) {
  await work();
  const find = () =>
    app.logLines.map((line) => JSON.parse(line)).find((line) => line.requestId === requestId);
  await until(async () => find() !== undefined);
  return find();
}

it("a request line has the client, the key, the file and the bytes", async () => {
  const bytes = "x".repeat(5_000);
  const file = await uploadFile(app, bytes, { key: app.owner.live });
  const read = await lineOf("a-read", async () => {
    const headers = { ...throughProxy, "x-request-id": "a-read" };
    assert.equal(await (await fetch(file.url, { headers })).text(), bytes);
  });
  assert.deepEqual(
    [read.level, read.address, read.fileId, read.status, read.keyId, read.userId],
    ["info", "203.0.113.9", file.id, 200, undefined, undefined],
  );
  assert.ok(read.bytesOut > 5_000 && read.bytesOut < 6_000, `${read.bytesOut} bytes were sent`);
  assert.ok(read.bytesIn > 50 && read.bytesIn < 2_000, `${read.bytesIn} bytes came in`);

  const patch = await lineOf("a-patch", () =>
    app.call("PATCH", `files/${file.id}`, {
      key: app.owner.live,
      body: { name: "renamed.txt" },
      headers: { ...throughProxy, "x-request-id": "a-patch" },
    }),
  );
  assert.deepEqual([patch.fileId, patch.projectId], [file.id, app.owner.projectId]);
  assert.match(patch.keyId, /^[0-9a-z]{26}$/);
  const completed = app.logLines.map((line) => JSON.parse(line));
  for (const route of ["/api/v1/upload/request", ...(onDisk ? ["/u/*"] : []), "/api/v1/upload/complete"])
    assert.equal(completed.find((line) => line.route === route)?.fileId, file.id, route);
});

it("a line of the dashboard has the person instead of a key, and no token", async () => {
  const token = await createSessionToken(app, app.owner.accountId);
  const path = `/dashboard/api/in/${app.owner.projectId}/live/logs`;
  const headers = {
    ...throughProxy,
    "x-request-id": "a-person",
    origin: app.url,
    cookie: `__Host-upstow_session=${token}`,
  };
  const line = await lineOf("a-person", () => app.call("GET", path, { headers }));
  assert.deepEqual(
    [line.status, line.userId, line.keyId, line.projectId],
    [200, app.owner.accountId, undefined, app.owner.projectId],
  );
  const everything = app.logLines.join("");
  for (const secret of [token, app.owner.live]) assert.ok(!everything.includes(secret));
});

it("lines of links and grants hold no token", async () => {
  const key = app.owner.live;
  const post = async (path: string, body: object) => (await app.call("POST", path, { key, body })).body;
  const file = await uploadFile(app, "private", { key });
  const { links } = await post("files/links", { keys: [file.key] });
  const { grant } = await post("files/grants", { routeSlug: "default" });
  const { grant: toUpload } = await post("upload/grants", { routeSlug: "default" });
  const calls = [
    ["GET", links[0].url],
    ["GET", `${grant.baseUrl}/${file.key}`],
    ["POST", `${app.url}/form/${toUpload.token}`],
  ];
  const routes = calls.map(async ([method = "", url = ""], i) => {
    const requestId = `with-token-${i}`;
    return (await lineOf(requestId, () => fetch(url, { method, headers: { "x-request-id": requestId } })))
      .route;
  });
  assert.deepEqual(await Promise.all(routes), ["/s/:token/:name", "/g/:token/*", "/form/*"]);
  const everything = app.logLines.join("\n");
  for (const token of [links[0].url.split("/")[4], grant.token, toUpload.token])
    assert.ok(!everything.includes(token));
});

it("bytes of one line are not counted again by the next one on the connection", async () => {
  const { Agent, request } = await import("node:http");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (id: string) =>
    new Promise<void>((resolve, reject) => {
      const headers = { ...throughProxy, "x-request-id": id };
      request(`${app.url}/api/v1/openapi.json`, { agent, headers }, (response) => {
        response.resume();
        response.once("end", resolve);
      })
        .once("error", reject)
        .end();
    });
  const first = await lineOf("first-of-two", () => ask("first-of-two"));
  const second = await lineOf("second-of-two", () => ask("second-of-two"));
  agent.destroy();
  assert.ok(first.bytesOut > 10_000);
  assert.ok(Math.abs(second.bytesOut - first.bytesOut) < 100, `${first.bytesOut} and ${second.bytesOut}`);
  assert.ok(Math.abs(second.bytesIn - first.bytesIn) < 100, `${first.bytesIn} and ${second.bytesIn}`);
});

it("probes are left to the debug level", async () => {
  for (const probe of ["/healthz", "/readyz", "/metrics"])
    await app.call("GET", probe, { headers: throughProxy });
  await lineOf("after-the-probes", () =>
    app.call("GET", "projects", { headers: { ...throughProxy, "x-request-id": "after-the-probes" } }),
  );
  assert.ok(!app.logLines.some((line) => /"route":"\/(healthz|readyz|metrics)"/.test(line)));
});

it("people at a terminal read lines, with levels marked", async () => {
  const terminal = new PassThrough();
  const log = pino({ level: "info", ...logFormat }, createTerminalLog(terminal as never));
  log.info({ method: "GET", route: "/f/*", status: 200, ms: 1.5, address: "203.0.113.9" }, "request");
  log.warn({ dependency: "redis" }, "a dependency does not respond");
  log.error(new Error("broken"));
  log.info("files are now served from the bucket");
  terminal.end();
  const shown = stripVTControlCharacters(await text(terminal));
  const lines = shown.split("\n").map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, ""));
  assert.equal(lines[0], "200  GET     /f/*  1.5 ms");
  assert.equal(lines[1], "warning  a dependency does not respond  dependency=redis");
  assert.equal(lines[2], "error  broken");
  assert.equal(lines.at(-2), "files are now served from the bucket");
});
