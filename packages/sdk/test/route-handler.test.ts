import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import * as z from "zod";
import type { BeginAnswer, CompleteAnswer, StartAnswer } from "../src/handler/protocol.ts";
import { createUpstow } from "../src/index.ts";
import {
  createFileRouter,
  createRouteHandler,
  type FileRouter,
  UpstowAuthError,
  UpstowError,
} from "../src/server.ts";
import type { ErrorBody } from "../src/wire/errors.ts";
import { MB, startService, type TestService } from "./support/start-service.ts";

interface Answer<Body> {
  status: number;
  headers: Headers;
  body: Body & { error?: ErrorBody["error"] };
}

// Long enough never to appear in a sealed token by chance.
const user = "ann@site.example";
const png = { name: "me.png", size: 1000, type: "image/png" };
const movie = { name: "movie.mp4", size: 11 * MB, type: "video/mp4" };

describe("the route handler", () => {
  let service: TestService;
  let handle: (request: Request) => Promise<Response>;
  const completed: object[] = [];
  const failures: string[] = [];
  const unseen: unknown[] = [];
  let failCallback = false;

  before(async () => {
    service = await startService();
    const f = createFileRouter();
    const router = {
      avatar: f({
        allowedTypes: ["image/*"],
        maxFileSize: "1MB",
        maxFileCount: 2,
        input: z.object({ album: z.string() }),
        middleware: ({ request, input }) => {
          const user = request.headers.get("x-user");
          if (user === null) throw new UpstowAuthError();
          if (user === "eve") throw new UpstowAuthError("Not you.", 403);
          return { user, album: input.album, secret: "never in a browser" };
        },
        onUploadComplete: ({ file, metadata, isRepeat }) => {
          completed.push({ name: file.name, user: metadata.user, isRepeat });
          if (failCallback) throw new Error("database password is hunter2");
          return { by: metadata.user };
        },
        onUploadError: ({ error, file }) => void failures.push(`${file.name}: ${error.message}`),
      }),
      video: f({
        allowedTypes: ["video/mp4"],
        middleware: ({ request }) => ({ user: request.headers.get("x-user") }),
      }),
      full: f({
        // As on the service, an empty list takes every type.
        allowedTypes: [],
        middleware: () => {
          throw new UpstowError("The album is full.", { code: "ALBUM_FULL", suggestion: "Empty it." });
        },
      }),
      away: f({
        middleware: () => {
          throw new UpstowError("No response from http://10.0.0.7/api/v1.", { code: "NETWORK_ERROR" });
        },
      }),
      broken: f({
        middleware: () => {
          throw new Error("connection string with a password");
        },
      }),
    } satisfies FileRouter;
    handle = createRouteHandler({
      router,
      apiKey: service.apiKey,
      baseUrl: service.app.url,
      onError: (error) => unseen.push(error),
    });
  });
  after(() => service.close());
  beforeEach(() => {
    for (const list of [completed, failures, unseen]) list.length = 0;
    failCallback = false;
  });

  async function post<Body>(body: unknown, headers: Record<string, string> = {}): Promise<Answer<Body>> {
    const request = new Request("http://site.example/api/upload", {
      method: "POST",
      headers: { "content-type": "application/json", "x-user": user, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const response = await handle(request);
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
  }

  const begin = (fields: object = {}, headers?: Record<string, string>) =>
    post<BeginAnswer>(
      { action: "begin", route: "avatar", input: { album: "a" }, files: [png], ...fields },
      headers,
    );

  async function start(fields: object = {}, headers?: Record<string, string>, resume?: string) {
    const { body } = await begin(fields, headers);
    return (await post<StartAnswer>({ action: "start", ticket: body.tickets?.[0], resume })).body;
  }

  const put = (url: string | undefined, size: number, type?: string) =>
    fetch(url ?? "", {
      method: "PUT",
      body: new Uint8Array(size),
      headers: type === undefined ? {} : { "content-type": type },
    });

  async function refused(answer: Promise<Answer<object>>, status: number, code: string) {
    const { status: given, body } = await answer;
    assert.deepEqual([given, body.error?.code], [status, code], JSON.stringify(body));
    return body.error;
  }

  it("tells what each route takes", async () => {
    const answer = await handle(new Request("http://site.example/api/upload"));
    const { routes } = (await answer.json()) as { routes: Record<string, object> };
    assert.deepEqual(routes["avatar"], { allowedTypes: ["image/*"], maxFileSize: MB, maxFileCount: 2 });
    assert.deepEqual(routes["broken"], { allowedTypes: [], maxFileSize: null, maxFileCount: null });
  });

  it("takes a file from begin to completion, and the callback's result to the browser", async () => {
    const { token, uploadUrl } = await start();
    assert.equal((await put(uploadUrl, png.size, png.type)).status, 200);
    const { status, body } = await post<CompleteAnswer>({ action: "complete", token });
    assert.equal(status, 200);
    assert.deepEqual(body.result, { by: user });
    assert.deepEqual(Object.keys(body.file).sort(), ["id", "key", "name", "sha256", "size", "type", "url"]);
    assert.deepEqual(completed, [{ name: "me.png", user, isRepeat: false }]);
    const upstow = createUpstow({ apiKey: service.apiKey, baseUrl: service.app.url });
    const { metadata } = await upstow.files.get(body.file.key);
    assert.deepEqual(metadata, { route: "avatar", user, album: "a", secret: "never in a browser" });
  });

  it("answers a repeated completion like the first one", async () => {
    const { token, uploadUrl } = await start();
    await put(uploadUrl, png.size, png.type);
    const first = await post<CompleteAnswer>({ action: "complete", token });
    const second = await post<CompleteAnswer>({ action: "complete", token });
    assert.deepEqual(second.body, first.body);
    assert.deepEqual(completed.at(1), { name: "me.png", user, isRepeat: true });
  });

  it("opens one upload for one ticket, however often it is presented", async () => {
    const { body } = await begin();
    const ticket = body.tickets[0];
    const [a, b] = await Promise.all([
      post<StartAnswer>({ action: "start", ticket }),
      post<StartAnswer>({ action: "start", ticket }),
    ]);
    await put(a?.body.uploadUrl, png.size, png.type);
    assert.equal((await post({ action: "complete", token: b?.body.token })).status, 200);
  });

  it("refuses who may not upload", async () => {
    await refused(begin({}, { "x-user": "eve" }), 403, "FORBIDDEN");
    const anonymous = new Request("http://site.example/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ action: "begin", route: "avatar", input: { album: "a" }, files: [png] }),
    });
    assert.equal((await handle(anonymous)).status, 401);
  });

  it("refuses files that the route does not take", async () => {
    const files = (...list: object[]) => begin({ files: list });
    await refused(files({ ...png, type: "text/html" }), 400, "INVALID_FILE_TYPE");
    await refused(files({ ...png, size: MB + 1 }), 413, "FILE_TOO_LARGE");
    await refused(files(png, png, png), 400, "TOO_MANY_FILES");
    await refused(begin({ files: [png], of: 3 }), 400, "TOO_MANY_FILES");
    for (const bad of [
      {},
      { ...png, size: 0 },
      { ...png, size: "1" },
      { ...png, size: 1.5 },
      { ...png, name: "" },
    ]) {
      await refused(files(bad), 400, "VALIDATION_ERROR");
    }
    await refused(files(), 400, "VALIDATION_ERROR");
    assert.equal((await files({ ...png, type: "IMAGE/PNG; q=1" })).status, 200);
  });

  it("refuses each of several files with words of its own", async () => {
    const wrong = [
      { ...png, name: "a.txt", type: "text/plain" },
      { ...png, name: "b.png", size: MB + 1 },
    ];
    const empty = await refused(
      begin({ files: [{ ...png, name: "c.png", size: 0 }] }),
      400,
      "VALIDATION_ERROR",
    );
    assert.equal(empty?.message, '"c.png" is empty.');
    // Nobody is asked who they are where nothing can be allowed.
    const { status, body } = await begin({ files: wrong }, { "x-user": "eve" });
    assert.deepEqual([status, body.tickets], [200, ["", ""]]);
    assert.deepEqual(
      body.refusals?.map(({ index, code, status, message }) => [index, code, status, message.slice(0, 7)]),
      [
        [0, "INVALID_FILE_TYPE", 400, '"a.txt"'],
        [1, "FILE_TOO_LARGE", 413, '"b.png"'],
      ],
    );
  });

  it("takes an error without a status for a refusal, unless nobody answered", async () => {
    const error = await refused(begin({ route: "full" }), 400, "ALBUM_FULL");
    assert.deepEqual([error?.type, error?.suggestion], ["invalid_request", "Empty it."]);
    assert.equal(unseen.length, 0);
    const unanswered = await refused(begin({ route: "away" }), 502, "NETWORK_ERROR");
    assert.ok(!unanswered?.message.includes("10.0.0.7"));
    assert.match(String(unseen[0]), /10\.0\.0\.7/);
  });

  it("refuses input that the schema does not take, and says where", async () => {
    const error = await refused(begin({ input: { album: 5 } }), 400, "VALIDATION_ERROR");
    assert.equal(error?.details?.[0]?.path, "input.album");
  });

  it("refuses unknown routes, inherited names, unknown actions and other bodies", async () => {
    await refused(begin({ route: "nothing" }), 404, "NOT_FOUND");
    await refused(begin({ route: "constructor" }), 404, "NOT_FOUND");
    await refused(post({ action: "delete everything" }), 400, "VALIDATION_ERROR");
    await refused(post("{"), 400, "VALIDATION_ERROR");
    await refused(post("null"), 400, "VALIDATION_ERROR");
    await refused(post({ action: "begin" }, { "content-type": "text/plain" }), 415, "VALIDATION_ERROR");
    await refused(post(`"${"x".repeat(MB)}"`), 413, "VALIDATION_ERROR");
    const put = await handle(new Request("http://site.example/", { method: "PUT" }));
    assert.deepEqual([put.status, put.headers.get("allow")], [405, "GET, POST"]);
  });

  it("believes no token that it did not make for this purpose", async () => {
    const { token } = await start();
    const ticket = (await begin()).body.tickets[0] ?? "";
    const edited = (text: string) => text.slice(0, 30) + (text[30] === "A" ? "B" : "A") + text.slice(31);
    for (const forged of [edited(token), ticket, "", "x", null, 7, `${token}AAAA`]) {
      await refused(post({ action: "complete", token: forged }), 403, "INVALID_TOKEN");
      await refused(post({ action: "abort", token: forged }), 403, "INVALID_TOKEN");
    }
    await refused(post({ action: "start", ticket: token }), 403, "INVALID_TOKEN");
    const stranger = createRouteHandler({ router: {}, apiKey: "svc_live_other", baseUrl: service.app.url });
    const answer = await stranger(
      new Request("http://site.example/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ action: "complete", token }),
      }),
    );
    assert.equal(answer.status, 403);
  });

  it("shows a browser neither the key nor what middleware returned", async () => {
    const begun = await begin();
    const started = await post<StartAnswer>({ action: "start", ticket: begun.body.tickets[0] });
    const decoded = [begun.body.tickets[0], started.body.token].map((text) =>
      Buffer.from(text ?? "", "base64url").toString("latin1"),
    );
    const seen = JSON.stringify([begun.body, started.body, ...decoded]);
    for (const hidden of [service.apiKey, "never in a browser", user])
      assert.ok(!seen.includes(hidden), hidden);
  });

  it("hides errors of the application, and reports them", async () => {
    const answer = await begin({ route: "broken" });
    assert.equal(answer.status, 500);
    assert.ok(!JSON.stringify(answer.body).includes("password"));
    assert.match(String(unseen[0]), /connection string/);

    failCallback = true;
    const { token, uploadUrl } = await start();
    await put(uploadUrl, png.size, png.type);
    const error = await refused(post({ action: "complete", token }), 500, "CALLBACK_FAILED");
    assert.ok(!error?.message.includes("hunter2"));
    assert.deepEqual(failures, []);
    failCallback = false;
    assert.equal((await post({ action: "complete", token })).status, 200);
  });

  it("never says 401 to a user because the server's own key is wrong", async () => {
    const f = createFileRouter();
    const wrong = createRouteHandler({
      router: { any: f({}) },
      apiKey: "svc_live_wrong",
      baseUrl: service.app.url,
      onError: (error) => unseen.push(error),
    });
    const ask = async (body: object) =>
      wrong(
        new Request("http://site.example/", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
    const { tickets } = (await (
      await ask({ action: "begin", route: "any", files: [png] })
    ).json()) as BeginAnswer;
    assert.equal((await ask({ action: "start", ticket: tickets[0] })).status, 500);
    assert.equal(unseen.length, 1);
  });

  it("signs, lists and aborts parts, and resumes for the same user only", async () => {
    const first = await start({ route: "video", files: [movie] });
    assert.equal(first.parts?.length, 3);
    await put(first.parts?.[1]?.uploadUrl, 5 * MB);
    const listed = await post<{ parts: { partNumber: number }[] }>({ action: "parts", token: first.token });
    assert.deepEqual(
      listed.body.parts.map((part) => part.partNumber),
      [2],
    );
    const signed = await post<{ parts: object[] }>({
      action: "sign",
      token: first.token,
      partNumbers: [1, 3],
    });
    assert.equal(signed.body.parts.length, 2);

    const resumed = await start({ route: "video", files: [movie] }, {}, first.token);
    assert.deepEqual(
      resumed.received?.map((part) => part.partNumber),
      [2],
    );
    assert.deepEqual(
      resumed.parts?.map((part) => part.partNumber),
      [1, 3],
    );
    const strangers = [
      await start({ route: "video", files: [movie] }, { "x-user": "bob" }, first.token),
      await start({ route: "video", files: [{ ...movie, size: movie.size + 1 }] }, {}, first.token),
      await start({ route: "video", files: [movie] }, {}, "not a token"),
    ];
    for (const fresh of strangers) {
      assert.deepEqual(fresh.received, []);
      await post({ action: "abort", token: fresh.token });
    }

    assert.equal((await post({ action: "abort", token: resumed.token })).status, 200);
    assert.equal((await post({ action: "abort", token: resumed.token })).status, 200);
    await refused(post({ action: "parts", token: first.token }), 404, "NOT_FOUND");
    const afterwards = await start({ route: "video", files: [movie] }, {}, first.token);
    assert.deepEqual(afterwards.received, []);
  });

  it("aborts an upload in one piece, and never a file that is complete", async () => {
    const open = await start();
    await post({ action: "abort", token: open.token, failure: "the storage answered 500" });
    assert.equal((await put(open.uploadUrl, png.size, png.type)).status, 403);
    assert.deepEqual(failures, ["me.png: The browser abandoned the upload: the storage answered 500"]);

    const { token, uploadUrl } = await start();
    await put(uploadUrl, png.size, png.type);
    const { body } = await post<CompleteAnswer>({ action: "complete", token });
    assert.equal((await post({ action: "abort", token })).status, 200);
    assert.equal((await fetch(body.file.url)).status, 200);
  });

  it("tells when the bytes have not arrived", async () => {
    const { token } = await start();
    await refused(post({ action: "complete", token }), 422, "FILE_NOT_IN_STORAGE");
  });
});
