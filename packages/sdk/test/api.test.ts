import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import sharp from "sharp";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { createUpstow, type Upstow, UpstowError } from "../src/index.ts";

describe("createUpstow", () => {
  let app: TestApp;
  let upstow: Upstow;

  before(async () => {
    app = await startApp({ database: "sqlite" });
    upstow = createUpstow({ apiKey: app.owner.live, baseUrl: `${app.url}/` });
  });
  after(() => app.close());

  it("reaches every call that the service describes", async () => {
    const { paths } = (await (await fetch(`${app.url}/api/v1/openapi.json`)).json()) as {
      paths: Record<string, Record<string, object>>;
    };
    const described = Object.entries(paths)
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
      .map((call) => call.replace("/api/v1", "").replaceAll(/\{[^}]*\}|\*/g, ":x"))
      .filter((call) => !call.includes("/mcp"));
    assert.ok(described.length >= 35, String(described.length));
    const made = await collectCalls();
    assert.deepEqual(
      described.filter((call) => !made.has(call)),
      [],
    );
  });

  /** Runs every method against a fetch that only notes what it is asked. */
  async function collectCalls(): Promise<Set<string>> {
    const made = new Set<string>();
    const client = createUpstow({
      apiKey: "key",
      baseUrl: "http://service.example",
      retries: 0,
      fetch: async (url, init) => {
        const path = new URL(String(url)).pathname
          .replace("/api/v1", "")
          .replaceAll(/(?<=\/)x(?=\/|$)/g, ":x");
        made.add(`${init?.method ?? "GET"} ${path}`);
        return new Response('{"error":{"code":"NOT_FOUND","message":"noted"}}', { status: 404 });
      },
    });
    const visit = async (node: object): Promise<void> => {
      for (const value of Object.values(node)) {
        if (typeof value === "object") await visit(value);
        else if (value === client.events.stream)
          await value()
            .next()
            .catch(() => {});
        else if (value !== client.upload) await call(value);
      }
    };
    const call = async (method: (...args: unknown[]) => Promise<unknown>) => {
      const ref = { fileId: "x", uploadId: "x" };
      // Whatever a method takes first: an id, or a reference to an upload.
      for (const first of ["x", ref]) await Promise.resolve(method(first, {})).catch(() => {});
    };
    await visit(client);
    return made;
  }

  it("uploads many small files with two calls", async () => {
    const names = ["a.txt", "b.txt", "c.txt"];
    const common = { fileSize: 5, contentType: "text/plain", routeSlug: "default" };
    const uploads = await upstow.uploads.requestMany([
      ...names.map((fileName) => ({ ...common, fileName })),
      { ...common, fileName: "d.txt", routeSlug: "unknown" },
    ]);
    const opened = uploads.filter((upload) => "fileId" in upload);
    assert.deepEqual(
      uploads.map((upload) => ("error" in upload ? upload.error.code : upload.index)),
      [0, 1, 2, "NOT_FOUND"],
    );
    for (const { uploadUrl } of opened)
      await fetch(uploadUrl, { method: "PUT", headers: { "content-type": "text/plain" }, body: "hello" });
    const done = await upstow.uploads.completeMany(opened.map(({ fileId }) => ({ fileId })));
    assert.deepEqual(
      done.map((item) => ("file" in item ? item.file.name : item.error.code)),
      names,
    );
    await assert.rejects(
      upstow.uploads.completeMany(opened.map(({ fileId }) => ({ fileId }))),
      (error) => error instanceof UpstowError && error.code === "NOT_FOUND",
    );
    await upstow.files.deleteMany(done.flatMap((item) => ("file" in item ? [item.file.key] : [])));
  });

  it("manages files", async () => {
    const files = [];
    for (let i = 0; i < 5; i++)
      files.push(await upstow.upload(new Blob([`file ${i}`]), { name: `${i} ä/b.txt` }));
    const page = await upstow.files.list({ limit: 2 });
    assert.deepEqual([page.files.length, page.hasMore], [2, true]);
    const names: string[] = [];
    for await (const file of upstow.files.list({ limit: 2 })) names.push(file.name);
    assert.deepEqual(names, files.map((file) => file.name).reverse());

    const [first, second, third] = files;
    const key = first?.key ?? "";
    const updated = await upstow.files.update(key, { metadata: { a: 1 } });
    assert.deepEqual([updated.metadata, (await upstow.files.get(key)).metadata], [{ a: 1 }, { a: 1 }]);
    await upstow.files.delete(key);
    await assert.rejects(upstow.files.get(key), { code: "NOT_FOUND", status: 404 });
    const some = await upstow.files.deleteMany([key, second?.key ?? ""]);
    assert.deepEqual([some.deleted, some.failed, some.failures[0]?.key], [1, 1, key]);
    const none = await upstow.files.deleteMany([key, "nothing"]);
    assert.deepEqual([none.deleted, none.failed], [0, 2]);
    assert.equal(
      (await upstow.files.list()).files.some((file) => file.key === third?.key),
      true,
    );
  });

  it("manages projects, routes and keys", async () => {
    const project = await upstow.projects.create({ name: "Made here" });
    assert.equal((await upstow.projects.get(project._id)).name, "Made here");
    assert.equal((await upstow.projects.update(project._id, { name: "Renamed" })).name, "Renamed");
    assert.ok((await upstow.projects.list()).some((item) => item._id === project._id));
    await upstow.projects.delete(project._id);

    assert.equal("keys" in project, false);
    const made = await upstow.projects.create({ name: "With keys", createKeys: ["live", "test"] });
    assert.deepEqual(
      made.keys?.map(({ type }) => type),
      ["live", "test"],
    );
    const own = createUpstow({ apiKey: made.keys?.[0]?.secret ?? "", baseUrl: app.url });
    assert.equal((await own.usage.get()).usage.reservedUploads, 0);
    await upstow.projects.delete(made._id);

    const { projectId } = app.owner;
    const router = await upstow.routers.create(projectId, { slug: "pictures", allowedTypes: ["image/*"] });
    await assert.rejects(upstow.routers.create(projectId, { slug: "pictures" }), { code: "DUPLICATE_SLUG" });
    assert.equal((await upstow.routers.update(router.id, { maxFileSize: 5 })).maxFileSize, 5);
    assert.deepEqual((await upstow.routers.get(router.id)).allowedTypes, ["image/*"]);
    assert.ok((await upstow.routers.list(projectId)).some((item) => item.slug === "pictures"));
    await upstow.routers.delete(router.id);

    const { key, secret } = await upstow.keys.create(projectId, { name: "second" });
    assert.match(secret ?? "", /^svc_live_/);
    assert.ok((await upstow.keys.list(projectId)).some((item) => item.id === key.id));
    await upstow.keys.revoke(key.id);
    const revoked = createUpstow({ apiKey: secret, baseUrl: app.url });
    await assert.rejects(revoked.usage.get(), {
      code: "UNAUTHORIZED",
      type: "authentication_error",
      status: 401,
    });
  });

  it("reads usage, logs, deliveries and signing keys, and makes variants", async () => {
    assert.equal((await upstow.usage.get()).tier, "enterprise");
    assert.equal((await upstow.usage.history({ months: 3 })).length, 3);
    const types = new Set<string>();
    for await (const log of upstow.logs.list({ limit: 3 })) types.add(log.type);
    assert.ok(types.has("upload.completed") && types.has("key.revoked"));
    assert.deepEqual((await upstow.webhooks.deliveries.list({ status: "dead" })).deliveries, []);
    assert.deepEqual(
      await upstow.webhooks.deliveries.redeliverMany({ filter: { status: "dead" }, dryRun: true }),
      {
        matched: 0,
        queued: 0,
      },
    );
    const { current, next } = await upstow.webhooks.signingKeys.get();
    assert.match(current, /^whsec_/);
    assert.equal((await upstow.webhooks.signingKeys.rotate({ force: true })).current, next);

    const pixel = await sharp({ create: { width: 9, height: 9, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    const file = await upstow.upload(new Blob([new Uint8Array(pixel)], { type: "image/png" }), {
      name: "red.png",
    });
    const variant = await upstow.transforms.image({ key: file.key, width: 3, format: "webp" });
    assert.equal((await fetch(variant.url)).headers.get("content-type"), "image/webp");
  });

  it("streams events, past ones first", async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const listening = (async () => {
      for await (const event of upstow.events.stream({ last: 1, signal: stop.signal })) {
        seen.push(JSON.parse(event.body).file.name);
        if (seen.length === 1) await upstow.upload(new Blob(["new"]), { name: "new.txt" });
        if (seen.length === 2) stop.abort();
      }
    })();
    await assert.rejects(listening, { name: "AbortError" });
    assert.deepEqual(seen, ["red.png", "new.txt"]);
    const stranger = createUpstow({ apiKey: "svc_live_no", baseUrl: app.url });
    await assert.rejects(stranger.events.stream().next(), { code: "UNAUTHORIZED" });
  });

  it("waits for whoever takes long over an event, and ends a stream that falls silent", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const stop = new AbortController();
    const signals: AbortSignal[] = [];
    const sent = new TransformStream<string, string>();
    const writer = sent.writable.getWriter();
    const send = (id: number) => writer.write(`id: ${id}\ndata: {"body":"${id}"}\n\n`);
    const events = createUpstow({
      apiKey: "key",
      baseUrl: "http://service.example",
      fetch: async (_url, init) => {
        signals.push(init?.signal as AbortSignal);
        return new Response(sent.readable.pipeThrough(new TextEncoderStream()));
      },
    }).events.stream({ signal: stop.signal });
    send(1);
    assert.equal((await events.next()).value?.id, "1");
    t.mock.timers.tick(60_000);
    send(2);
    assert.equal((await events.next()).value?.id, "2");
    assert.deepEqual([signals.length, signals[0]?.aborted], [1, false]);
    const silent = events.next();
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(60_000);
    assert.equal(signals[0]?.aborted, true);
    stop.abort();
    await writer.abort(new Error("the connection was ended"));
    await assert.rejects(silent, { name: "AbortError" });
  });

  it("says what is wrong with its settings when it is first used", async () => {
    await assert.rejects(async () => createUpstow({ apiKey: "key" }).usage.get(), {
      message: "UPSTOW_URL is not set.",
      suggestion: /option baseUrl/,
    });
    for (const baseUrl of ["", "foo", "localhost:4444", "http://a b"]) {
      await assert.rejects(async () => createUpstow({ apiKey: "key", baseUrl }).usage.get(), {
        code: "VALIDATION_ERROR",
        message: `baseUrl or UPSTOW_URL is not an http(s) URL: "${baseUrl}".`,
      });
    }
    for (const apiKey of ["", " ", "svc_test_…", "svc_test_a\nb"]) {
      await assert.rejects(async () => createUpstow({ apiKey, baseUrl: app.url }).usage.get(), {
        code: "VALIDATION_ERROR",
        message: "apiKey or UPSTOW_API_KEY is not an API key.",
      });
    }
    const fromFile = createUpstow({ apiKey: `${app.owner.live}\n`, baseUrl: app.url });
    assert.equal((await fromFile.usage.get()).tier, "enterprise");
  });

  it("carries everything that an error says", async () => {
    await assert.rejects(
      upstow.uploads.request({ fileName: "", fileSize: 1, contentType: "a/b", routeSlug: "x" }),
      (error) => {
        assert.ok(error instanceof UpstowError);
        assert.equal(error.details?.[0]?.path, "fileName");
        assert.match(error.requestId ?? "", /./);
        assert.match(error.suggestion ?? "", /./);
        return true;
      },
    );
  });
});

describe("calls that fail", () => {
  type Answer = (request: IncomingMessage, response: ServerResponse, number: number) => void;
  const seen: { key: string | undefined; method: string | undefined }[] = [];
  let answer: Answer = () => {};
  const server = createServer((request, response) => {
    seen.push({ key: request.headers["idempotency-key"]?.toString(), method: request.method });
    answer(request, response, seen.length);
  });
  let upstow: Upstow;

  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    upstow = createUpstow({ apiKey: "key", baseUrl: `http://127.0.0.1:${port}`, timeoutMs: 300, retries: 2 });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  function answering(next: Answer): void {
    seen.length = 0;
    answer = next;
  }
  const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
    response.writeHead(status, headers).end(JSON.stringify(body));
  const failure = (code: string) => ({ error: { type: "api_error", code, message: code } });

  it("are repeated after a broken connection and a 5xx, a POST always under the same key", async () => {
    answering((request, response, number) => {
      if (number === 1) return request.socket.destroy();
      if (number === 2) return json(response, 503, failure("SERVICE_UNAVAILABLE"));
      return json(response, 201, { project: { _id: "p" } });
    });
    assert.equal((await upstow.projects.create({ name: "p" }))._id, "p");
    assert.equal(seen.length, 3);
    assert.equal(new Set(seen.map((call) => call.key)).size, 1);
    assert.match(seen[0]?.key ?? "", /^[0-9a-f-]{36}$/);
  });

  it("are given up after the retries", async () => {
    answering((_, response) => json(response, 500, failure("INTERNAL_ERROR")));
    await assert.rejects(upstow.usage.get(), { code: "INTERNAL_ERROR", status: 500 });
    assert.equal(seen.length, 3);
    answering((request) => request.socket.destroy());
    await assert.rejects(upstow.usage.get({ retries: 0 }), { code: "NETWORK_ERROR", status: 0 });
    assert.equal(seen.length, 1);
  });

  it("are not repeated when the service has refused them, nor when a month's quota is used up", async () => {
    for (const [status, code] of [
      [501, "INTERNAL_ERROR"],
      [400, "VALIDATION_ERROR"],
      [404, "NOT_FOUND"],
      [429, "IMAGE_TRANSFORM_LIMIT_EXCEEDED"],
    ] as const) {
      answering((_, response) => json(response, status, failure(code)));
      await assert.rejects(upstow.usage.get(), { code, status });
      assert.equal(seen.length, 1);
    }
  });

  it("wait as long as the service asks when there were too many", async () => {
    let refusedAt = 0;
    let waitedMs = 0;
    answering((_, response, number) => {
      if (number > 1) {
        waitedMs = performance.now() - refusedAt;
        return json(response, 200, { usage: [] });
      }
      refusedAt = performance.now();
      return json(response, 429, failure("RATE_LIMITED"), { "retry-after": "1" });
    });
    await upstow.usage.history();
    assert.ok(waitedMs >= 990, String(waitedMs));
    answering((_, response) => json(response, 429, failure("RATE_LIMITED"), { "retry-after": "600" }));
    await assert.rejects(upstow.usage.get(), { code: "RATE_LIMITED", retryAfter: 600 });
    assert.equal(seen.length, 1);
  });

  it("do not wait for a service that will be away for long, nor come back at once", async () => {
    for (const seconds of [99_999_999, 3600]) {
      answering((_, response) =>
        json(response, 503, failure("SERVICE_UNAVAILABLE"), { "retry-after": String(seconds) }),
      );
      await assert.rejects(upstow.usage.get(), { code: "SERVICE_UNAVAILABLE", retryAfter: seconds });
      assert.equal(seen.length, 1);
    }
  });

  it("end by their timeout and by the caller's signal", async () => {
    answering(() => {});
    await assert.rejects(upstow.usage.get({ retries: 0 }), { code: "TIMEOUT" });
    const stop = new AbortController();
    const stopped = upstow.usage.get({ signal: stop.signal });
    stop.abort();
    await assert.rejects(stopped, { name: "AbortError" });
    await assert.rejects(upstow.files.list({}, { signal: AbortSignal.abort() }), { name: "AbortError" });
  });

  it("count a file that a lost DELETE has removed as removed", async () => {
    answering((request, response, number) => {
      if (number === 1) return request.socket.destroy();
      return json(response, 404, failure("NOT_FOUND"));
    });
    await upstow.files.delete("key");
    answering((_, response) => json(response, 404, failure("NOT_FOUND")));
    await assert.rejects(upstow.files.delete("key"), { code: "NOT_FOUND" });
  });

  it("do not begin with what JSON cannot say", async () => {
    answering((_, response) => json(response, 200, {}));
    const cycle: Record<string, never> = {};
    Object.assign(cycle, { cycle });
    for (const metadata of [cycle, { size: 1n }])
      await assert.rejects(upstow.files.update("key", { metadata } as never), TypeError);
    assert.equal(seen.length, 0);
  });

  it("name an answer that is not the service's", async () => {
    answering((_, response) => response.writeHead(200).end("<html>"));
    await assert.rejects(upstow.usage.get(), { code: "UNEXPECTED_ANSWER", status: 200 });
  });
});
