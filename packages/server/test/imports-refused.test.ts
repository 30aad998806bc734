import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { after, before, it } from "node:test";
import { gzipSync } from "node:zlib";
import { createNameResolver } from "../src/kernel/net/resolve-name.ts";
import { countEvents, importFrom } from "./support/imports/import-client.ts";
import { startNameServer } from "./support/imports/name-server.ts";
import { type Source, serve, startSource } from "./support/imports/source.ts";
import { assertCountersMatch, deletionsDone } from "./support/recount.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { createTenantClients, listLogTypes } from "./support/upload-life.ts";

const limitBytes = 300_000;

onAnyDatabase("an import that cannot be", (database) => {
  let app: TestApp;
  let source: Source;
  let names: Awaited<ReturnType<typeof startNameServer>>;
  /** Speaks no HTTP. */
  const noise = createServer((socket) => void socket.on("error", () => {}).end("220 mail.example ESMTP\r\n"));

  before(async () => {
    source = await startSource();
    names = await startNameServer({
      "rebinds.example": ["93.184.216.34", "10.1.2.3"],
      "inside.example": ["10.1.2.3"],
      "here.example": ["127.0.0.1"],
    });
    noise.listen(0, "127.0.0.1");
    await once(noise, "listening");
    app = await startApp({
      database,
      env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" },
      imports: {
        // Long enough for a busy machine to begin an answer.
        ...{ retryMs: 1, idleMs: 2_000, connectMs: 2_000 },
        resolve: createNameResolver({ servers: [names.server], hostsPath: "/dev/null" }),
      },
    });
    addPaths();
  });
  after(async () => {
    await app.close();
    names.close();
    noise.close();
    await source.close();
  });

  /** Servers that are slow, endless, or lie. */
  function addPaths(): void {
    const add = (path: string, answer: (response: ServerResponse, request: IncomingMessage) => void) =>
      source.paths.set(path, (request, response) => answer(response, request));
    const raw = (path: string, head: string, body: string, ends = true) =>
      add(path, ({ socket }) => {
        socket?.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`);
        if (ends) socket?.end();
      });
    const redirect = (path: string, headers: Record<string, string>) =>
      add(path, (response) => void response.writeHead(302, headers).end());
    source.paths.set("/text", serve(Buffer.from("text"), "text/html"));
    source.paths.set("/large", serve(Buffer.alloc(limitBytes + 1)));
    source.paths.set("/fits", serve(Buffer.alloc(limitBytes), "image/png"));
    add("/gzip", (response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("compressed"));
    });
    add("/endless", (response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      };
      response.on("drain", more);
      more();
    });
    add("/broken", (response) => void response.writeHead(503).end());
    add("/silent", () => {});
    add("/drips", (response) => {
      response.write("a");
      const timer = setInterval(() => response.write("b"), 50);
      response.once("close", () => clearInterval(timer));
    });
    raw("/too-short", "Content-Length: 10", "1234");
    raw("/too-long", "Content-Length: 4", "12345678", false);
    raw("/bad-chunks", "Transfer-Encoding: chunked", "zz\r\nnot a size\r\n");
    raw("/two-lengths", "Content-Length: 4\r\nContent-Length: 5", "12345");
    redirect("/loop", { location: "/loop" });
    redirect("/nowhere", {});
    redirect("/metadata", { location: "http://169.254.169.254/latest" });
    redirect("/file", { location: "file:///etc/passwd" });
    redirect("/inside", { location: "https://inside.example/" });
  }

  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

  it("ends as FAILED with its reason, and leaves nothing behind", async () => {
    const { client, tenant } = await createTenantClients(app);
    const route = {
      slug: "pictures",
      maxFileSize: limitBytes,
      allowedTypes: ["image/png", "application/octet-stream"],
    };
    assert.equal((await client.post(`projects/${tenant.projectId}/routers`, route)).status, 201);
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const closedPort = portOf(closed);
    closed.close();
    await once(closed, "close");
    const unreachable = ["unreachable", "The source could not be reached."];
    const incomplete = ["incomplete", "The source ended before the end of the file."];
    const tooLarge = ["too_large", `The file is larger than the ${limitBytes} bytes allowed here.`];
    const slow = ["too_slow", "The source sends too slowly."];
    const notPublic = ["address_refused", "The URL resolves to an address that is not public."];
    const noHttp = ["invalid_response", "The source's response is not valid HTTP."];
    const cases: [string, (string | undefined)[]][] = [
      ["/text", ["type_refused", 'The file route "pictures" does not accept text/html.']],
      ["/missing", ["status", "The source returned status 404."]],
      ["/broken", ["status", "The source returned status 503."]],
      ["/gzip", ["encoded", "The source sends the file compressed, although no compression was requested."]],
      ["/large", tooLarge],
      ["/endless", tooLarge],
      ["/silent", slow],
      ["/drips", slow],
      ["/too-short", incomplete],
      ["/bad-chunks", incomplete],
      ["/too-long", ["invalid_response", "The source sends more bytes than it announced."]],
      ["/two-lengths", noHttp],
      ["/loop", ["redirect", "The source redirects more than 3 times."]],
      ["/nowhere", ["redirect", "The source redirects without a valid URL."]],
      [
        "/file",
        ["redirect", "The source redirects to a URL that is not allowed: The URL must start with https://."],
      ],
      ["/metadata", notPublic],
      ["/inside", notPublic],
      ["https://rebinds.example/", notPublic],
      // None of these tells what is behind a port.
      [`http://127.0.0.1:${closedPort}/`, unreachable],
      [`https://127.0.0.1:${closedPort}/`, unreachable],
      [`https://127.0.0.1:${portOf(noise)}/`, unreachable],
      ["https://unknown.example/", unreachable],
      [`http://127.0.0.1:${portOf(noise)}/`, noHttp],
    ];
    const ended = await Promise.all(
      cases.map(([url]) =>
        importFrom(client, url.startsWith("/") ? source.url + url : url, { routeSlug: "pictures" }),
      ),
    );
    assert.deepEqual(
      ended.map(({ status, failure }, i) => [cases[i]?.[0], status, [failure?.reason, failure?.message]]),
      cases.map(([url, failure]) => [url, "FAILED", failure]),
    );
    const [first] = ended;
    assert.deepEqual(await listLogTypes(app, first.id), ["upload.requested", "upload.failed"]);
    const { logs } = (await app.call("GET", "logs?type=upload.failed&limit=100", { key: client.key })).body;
    assert.equal(logs.length, cases.length);
    const log = logs.find(({ fileId }: { fileId: string }) => fileId === first.id);
    assert.equal(log.message, `Import of "text" failed: ${cases[0]?.[1][1]}`);
    assert.equal(log.data.reason, "type_refused");
    for (const { id } of ended) assert.equal(await countEvents(app, id), 0);
    await deletionsDone(app);
    assert.equal(
      (await importFrom(client, `${source.url}/fits`, { routeSlug: "pictures" })).status,
      "UPLOADED",
    );
    await assertCountersMatch(app, tenant.projectId, { live: 1 });
  });

  it("is refused at once where the URL alone shows it", async () => {
    const { client, test, tenant } = await createTenantClients(app);
    await client.post(`projects/${tenant.projectId}/routers`, { slug: "live", environment: "live" });
    await client.post(`projects/${tenant.projectId}/routers`, { slug: "png", allowedTypes: ["image/png"] });
    const good = { url: `${source.url}/fits`, routeSlug: "default" };
    const refused = (url: string) => ({ ...good, url });
    for (const [body, status, code] of [
      [{ ...good, routeSlug: "unknown" }, 404, "NOT_FOUND"],
      [{ ...good, routeSlug: "png", contentType: "text/plain" }, 400, "INVALID_FILE_TYPE"],
      [{ routeSlug: "default" }, 400, "VALIDATION_ERROR"],
      [{ ...good, metadata: { a: "x".repeat(20_000) } }, 400, "VALIDATION_ERROR"],
      ...[
        "not a url",
        "ftp://example.com/a",
        "file:///etc/passwd",
        "https://user:secret@example.com/",
        "http://93.184.216.34/",
        "https://93.184.216.34:8443/",
        "https://10.0.0.1/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://inside.example/",
        "http://inside.example/",
        `https://example.com/${"a".repeat(3_000)}`,
      ].map((url) => [refused(url), 400, "VALIDATION_ERROR"] as const),
    ] as const) {
      const { status: found, body: answer } = await client.post("upload/import", body);
      assert.deepEqual(
        [found, answer.error?.code],
        [status, code],
        JSON.stringify([body, answer]).slice(0, 500),
      );
    }
    assert.equal((await test.post("upload/import", { ...good, routeSlug: "live" })).status, 401);
    assert.deepEqual((await client.list()).body.files, []);
    await assertCountersMatch(app, tenant.projectId);
  });

  it("meets the quotas of the plan", async () => {
    const free = await app.createTenant("free");
    const call = (body: object) => app.call("POST", "upload/import", { key: free.live, body });
    source.paths.set("/5mb", serve(Buffer.alloc(5 * 1024 * 1024)));
    const get = (id: string) => app.call("GET", `files/${id}`, { key: free.live });
    const { body } = await call({ url: `${source.url}/5mb`, routeSlug: "default" });
    for (;;) {
      const { file } = (await get(body.file.id)).body;
      if (file.status === "UPLOADING") continue;
      assert.equal(file.failure.reason, "too_large");
      break;
    }
    await assertCountersMatch(app, free.projectId);
  });
});
