import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BeginAnswer, CompleteAnswer, StartAnswer } from "../src/handler/protocol.ts";
import { createUpstow } from "../src/index.ts";
import { createFileRouter, createRouteHandler, type FileRouter } from "../src/server.ts";
import { MB, startService, type TestService } from "./support/start-service.ts";

const png = { name: "me.png", size: 1000, type: "image/png" };
const movie = { name: "movie.mp4", size: 11 * MB, type: "video/mp4" };

describe("a route's access", () => {
  let service: TestService;
  let handle: (request: Request) => Promise<Response>;
  before(async () => {
    service = await startService();
    const route = createFileRouter();
    const router = {
      secret: route({
        access: "private",
        middleware: ({ request }) => ({ user: request.headers.get("x-user") }),
        audience: ({ metadata }) => (metadata.user === null ? undefined : `user:${metadata.user}`),
      }),
      plain: route({}),
    } satisfies FileRouter;
    handle = createRouteHandler({ router, apiKey: service.apiKey, baseUrl: service.app.url });
  });
  after(() => service.close());

  async function post<Answer>(body: object, headers: Record<string, string>): Promise<Answer> {
    const answer = await handle(
      new Request("http://site.example/api/upload", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    );
    assert.equal(answer.status, 200);
    return (await answer.json()) as Answer;
  }

  /** As a browser does, in one piece or in parts; what the service then says of the file. */
  async function upload(route: string, file: typeof png, headers: Record<string, string> = {}) {
    const { tickets } = await post<BeginAnswer>({ action: "begin", route, files: [file] }, headers);
    const started = await post<StartAnswer>({ action: "start", ticket: tickets[0] }, headers);
    const { token, uploadUrl, partSize = 0 } = started;
    const send = (url: string, size: number, init = {}) =>
      fetch(url, { method: "PUT", body: new Uint8Array(size), ...init });
    const parts = started.parts?.map(async ({ partNumber, uploadUrl: url }) => {
      const sent = await send(url, Math.min(partSize, file.size - (partNumber - 1) * partSize));
      return { partNumber, etag: sent.headers.get("etag") };
    });
    if (uploadUrl !== undefined) await send(uploadUrl, file.size, { headers: { "content-type": file.type } });
    const sent = parts && { parts: await Promise.all(parts) };
    const done = await post<CompleteAnswer>({ action: "complete", token, ...sent }, headers);
    const upstow = createUpstow({ apiKey: service.apiKey, baseUrl: service.app.url });
    const { access, audience } = await upstow.files.get(done.file.key);
    return [access, audience, (await fetch(done.file.url)).status];
  }

  it("makes its files private, with the audience that it names, whole and in parts", async () => {
    for (const file of [png, movie])
      assert.deepEqual(await upload("secret", file, { "x-user": "ann" }), ["private", "user:ann", 404]);
    assert.deepEqual(await upload("secret", png), ["private", undefined, 404]);
  });

  it("is the service's own where it is not given", async () => {
    assert.deepEqual(await upload("plain", png), ["public", undefined, 200]);
  });
});
