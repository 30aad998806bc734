import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { type Source, serve, startSource } from "../../server/test/support/imports/source.ts";
import { createUploader, type Uploader } from "../src/client/index.ts";
import { createUpstow, type Upstow } from "../src/index.ts";
import { createFileRouter, createRouteHandler, UpstowAuthError, UpstowError } from "../src/server.ts";
import { startService, type TestService } from "./support/start-service.ts";

describe("importing a URL from the browser", () => {
  let service: TestService;
  let source: Source;
  let upstow: Upstow;
  let handle: (request: Request) => Promise<Response>;
  let calls: Record<string, unknown>[];
  const completed: object[] = [];
  const failures: string[] = [];

  before(async () => {
    source = await startSource();
    source.paths.set("/pixel.png", serve(Buffer.alloc(500, "p"), "image/png"));
    source.paths.set("/large.png", serve(Buffer.alloc(5000, "p"), "image/png"));
    source.paths.set("/page.html", serve(Buffer.from("<p>"), "text/html"));
    source.paths.set("/endless", (_request, response) => void response.writeHead(200).write("begun"));
    service = await startService({ env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" } });
    upstow = createUpstow({ baseUrl: service.app.url, apiKey: service.apiKey });
    const [project] = await upstow.projects.list();
    await upstow.projects.update(project?._id ?? "", { trashDays: 7 });
    const f = createFileRouter();
    const router = {
      images: f({
        fromUrl: true,
        allowedTypes: ["image/*"],
        maxFileSize: "2KB",
        middleware: ({ request, files, url }) => {
          if (request.headers.get("x-user") === null) throw new UpstowAuthError();
          return { user: request.headers.get("x-user"), asked: `${files.length} ${url}` };
        },
        onUploadComplete: ({ file, metadata, isRepeat }) => {
          completed.push({ name: file.name, user: metadata.user, isRepeat });
          return { by: metadata.user };
        },
        onUploadError: ({ error }) => void failures.push(error.message),
      }),
      any: f({ fromUrl: true }),
      files: f({}),
    };
    handle = createRouteHandler({ router, baseUrl: service.app.url, apiKey: service.apiKey });
  });
  after(async () => {
    await service.close();
    await source.close();
  });
  beforeEach(() => {
    completed.length = 0;
    failures.length = 0;
    calls = [];
  });

  const open = (headers: Record<string, string> = { "x-user": "ann" }): Uploader =>
    createUploader({
      endpoint: "http://site.example/api/upload",
      headers,
      retries: 0,
      resumeStore: false,
      fetch: async (url, init) => {
        const body = JSON.parse(String(init?.body));
        const response = await handle(new Request(url as string, init));
        calls.push({ ...body, answer: await response.clone().json() });
        return response;
      },
    });
  const refusedWith = (code: string) => (error: unknown) =>
    error instanceof UpstowError && error.code === code;

  it("answers the first question of Uppy's Url plugin from the URL alone, in the path or in the query", async () => {
    const ask = async (endpoint: string, url: unknown) => {
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify({ url }) };
      const response = await handle(new Request(`http://site.example${endpoint}/url/meta`, init));
      return { status: response.status, body: (await response.json()) as { name?: string } };
    };
    const seen = source.requests.length;
    for (const endpoint of ["/api/upload", "/api/upload?from="]) {
      const { body } = await ask(endpoint, `${source.url}/a/gr%C3%BCn.png?size=2`);
      assert.deepEqual(body, { name: "grün.png", type: null, size: null, statusCode: 200 });
    }
    assert.equal((await ask("/api/upload", "http://x.example/%ff")).body.name, "%ff");
    assert.equal((await ask("/api/upload", "http://x.example/")).body.name, "file");
    for (const url of ["no URL", 7, undefined]) assert.equal((await ask("/api/upload", url)).status, 400);
    assert.equal(source.requests.length, seen);
  });

  it("stores the file as the route says, and calls back once", async () => {
    const file = await open().importFromUrl("images", `${source.url}/pixel.png`);
    assert.deepEqual(
      [file.name, file.type, file.size, file.result],
      ["pixel.png", "image/png", 500, { by: "ann" }],
    );
    assert.deepEqual(completed, [{ name: "pixel.png", user: "ann", isRepeat: false }]);
    const { metadata } = await upstow.files.get(file.id);
    assert.deepEqual(metadata, { route: "images", user: "ann", asked: `0 ${source.url}/pixel.png` });
    // Nothing of the key, and nothing that the browser could change.
    assert.ok(!JSON.stringify(calls).includes(service.apiKey));
  });

  it("is refused where the route does not allow it, or the user may not", async () => {
    const { url } = source;
    await assert.rejects(open().importFromUrl("files", `${url}/pixel.png`), refusedWith("FORBIDDEN"));
    await assert.rejects(open().importFromUrl("none", `${url}/pixel.png`), refusedWith("NOT_FOUND"));
    await assert.rejects(open({}).importFromUrl("images", `${url}/pixel.png`), refusedWith("UNAUTHORIZED"));
    await assert.rejects(open().importFromUrl("images", ""), refusedWith("VALIDATION_ERROR"));
    await assert.rejects(
      open().importFromUrl("images", "https://10.0.0.1/a.png"),
      ({ code, message }: UpstowError) =>
        code === "VALIDATION_ERROR" && message === "The address 10.0.0.1 is not public.",
    );
  });

  it("keeps nothing that the router does not accept, and says why an import failed", async () => {
    for (const [path, code] of [
      ["/large.png", "FILE_TOO_LARGE"],
      ["/page.html", "INVALID_FILE_TYPE"],
      ["/missing.png", "IMPORT_FAILED"],
    ] as const)
      await assert.rejects(open().importFromUrl("images", source.url + path), refusedWith(code));
    assert.equal(failures.length, 3);
    assert.match(failures[2] ?? "", /404/);
    assert.deepEqual(completed, []);
    for (const status of ["UPLOADED", "DELETED"] as const) {
      const { files } = await upstow.files.list({ status });
      assert.deepEqual(
        files.filter(({ name }) => name === "large.png" || name === "page.html"),
        [],
        status,
      );
    }
  });

  it("ends with its signal, and shows what has arrived until then", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const onProgress = () => stop.abort(reason);
    const url = `${source.url}/endless`;
    await assert.rejects(
      open().importFromUrl("any", url, { signal: stop.signal, onProgress }),
      (error) => error === reason,
    );
    const { files } = await upstow.files.list({ status: "UPLOADING" });
    assert.deepEqual(files, []);
  });

  it("takes no token of an upload, and no upload takes its own", async () => {
    await open().importFromUrl("any", `${source.url}/pixel.png`);
    const { token } = (calls[0]?.["answer"] ?? {}) as { token: string };
    for (const body of [
      { action: "complete", token },
      { action: "importState", token: "forged" },
    ]) {
      const response = await handle(
        new Request("http://site.example/api/upload", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
      assert.equal(response.status, 403, JSON.stringify(body));
    }
  });
});
