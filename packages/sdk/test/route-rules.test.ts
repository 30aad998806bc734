import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BeginAnswer } from "../src/handler/protocol.ts";
import { createFileRouter, createRouteHandler, type FileRouter, type HandlerOptions } from "../src/server.ts";
import type { ErrorBody } from "../src/wire/errors.ts";

const f = createFileRouter();
const image = { name: "a.png", size: 1024, type: "image/PNG" };
const pdf = { name: "a.pdf", size: 2048, type: "application/pdf" };

/** What is decided before anything is asked of the service, which is not there. */
function open(
  router: FileRouter<unknown>,
  options: Omit<HandlerOptions, "router"> = { apiKey: "svc_live_a" },
) {
  const handle = createRouteHandler({ router, baseUrl: "http://127.0.0.1:9", ...options });
  const ask = async (init?: RequestInit) => {
    const answer = await handle(new Request("http://site.example/api/upload", init));
    const body = (await answer.json()) as BeginAnswer & Partial<ErrorBody> & { routes?: object };
    return { status: answer.status, body };
  };
  return {
    ask,
    begin: (...files: object[]) =>
      ask({
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ action: "begin", route: "any", files }),
      }),
  };
}

describe("the rules of a route", () => {
  it("check each type against its own limits, and are told", async () => {
    const any = f({
      allowedTypes: {
        image: { maxFileSize: "1KB", maxFileCount: 2 },
        pdf: {},
        "text/plain": { maxFileCount: 1 },
      },
      maxFileSize: "2KB",
      maxFileCount: 3,
    });
    const { ask, begin } = open({ any });
    assert.deepEqual((await ask()).body.routes, {
      any: {
        allowedTypes: ["image/*", "application/pdf", "text/plain"],
        maxFileSize: 2048,
        maxFileCount: 3,
        limits: {
          "image/*": { maxFileSize: 1024, maxFileCount: 2 },
          "application/pdf": { maxFileSize: 2048, maxFileCount: null },
          "text/plain": { maxFileSize: 2048, maxFileCount: 1 },
        },
      },
    });
    assert.equal((await begin(image, image, pdf)).status, 200);
    const { body } = await begin({ ...image, size: 1025 }, { ...pdf, size: 2049 }, image);
    assert.deepEqual(
      body.refusals?.map(({ index, code }) => [index, code]),
      [
        [0, "FILE_TOO_LARGE"],
        [1, "FILE_TOO_LARGE"],
      ],
    );
    const { error } = (await begin(image, image, image)).body;
    assert.equal(error?.message, "At most 2 files of type image/* can be uploaded at once.");
    assert.equal((await begin(image, pdf, pdf, pdf)).body.error?.code, "TOO_MANY_FILES");
    assert.equal((await begin({ ...pdf, type: "video/mp4" })).body.error?.code, "INVALID_FILE_TYPE");
  });

  it("must be such as a file can meet when a route is made, and say what to write otherwise", () => {
    const make = (rules: object) => () => f(rules);
    const list = (...types: string[]) => make({ allowedTypes: types });
    assert.throws(list("png"), /"png" is not a file type. Write "image\/png"/);
    assert.throws(list(".JPG"), /Write "image\/jpeg"/);
    assert.throws(list("image/jpg"), /Write "image\/jpeg"/);
    assert.throws(
      list("imgae"),
      /Write a MIME type such as "application\/pdf", a family such as "image\/\*" \(or "image"\)/,
    );
    assert.throws(make({ allowedTypes: { images: {} } }), /"images" is not a file type/);
    assert.throws(make({ maxFileSize: "4 parsecs" }), /write it as "4MB"/);
    assert.throws(make({ allowedTypes: { image: { maxFileCount: 0 } } }), /maxFileCount must be/);
    list("image", "audio/mp3", "audio/mpeg", "text/xml", "application/vnd.me+json")();
    assert.throws(make({ allowedTypes: "image" }), /must be a list. Write \["image"\]/);
    for (const size of [0, -1, Number.NaN, "4..5MB", "0MB", "4", null])
      assert.throws(make({ maxFileSize: size }), /is not a file size/, String(size));
    const router = { avatar: { allowedTypes: ["image/*"] } } as unknown as FileRouter<unknown>;
    assert.throws(() => createRouteHandler({ router }), /The route "avatar" must be created with/);
    assert.throws(() => createRouteHandler({} as { router: FileRouter<unknown> }), /router is missing/);
  });

  it("have no option that is misspelt, since its limit would not be kept", () => {
    assert.throws(
      () => f({ maxSize: "4MB" } as object),
      /"maxSize" is not an option of a route. Use one of allowedTypes, maxFileSize,/,
    );
    const limits = { image: { maxFileSiz: "4MB" } };
    assert.throws(
      () => f({ allowedTypes: limits } as object),
      /"maxFileSiz" is not an option of the limits of "image". Use one of maxFileSize, maxFileCount/,
    );
  });
});

it("developers are told which variable is missing, and nobody else", async (t) => {
  t.after(() => Reflect.deleteProperty(process.env, "NODE_ENV"));
  const errors: string[] = [];
  const { begin } = open({ any: f({}) }, { onError: (error) => errors.push((error as Error).message) });
  const message =
    "UPSTOW_API_KEY is not set. Set it in your server's environment, or pass the option apiKey.";
  const told = await begin(image);
  assert.deepEqual([told.status, told.body.error?.message], [501, message]);
  process.env["NODE_ENV"] = "production";
  assert.equal((await begin(image)).body.error?.message, "Something went wrong on our side.");
  assert.deepEqual(errors, [message, message]);
});
