import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BeginAnswer, CompleteAnswer, ManyAnswer, StartAnswer } from "../src/handler/protocol.ts";
import { createUpstow, type Upstow } from "../src/index.ts";
import { createFileRouter, createRouteHandler, type FileRouter } from "../src/server.ts";
import { MB, startService, type TestService } from "./support/start-service.ts";

const picture = { name: "me.png", size: 1000, type: "image/png" };

describe("files that have to be claimed, and the trash", () => {
  let service: TestService;
  let upstow: Upstow;
  let handle: (request: Request) => Promise<Response>;
  let onComplete = () => {};
  before(async () => {
    service = await startService();
    upstow = createUpstow({ apiKey: service.apiKey, baseUrl: service.storage.url });
    const [project] = await upstow.projects.list();
    await upstow.routers.create(project?._id ?? "", { slug: "form", claimWithin: 60, expireAfterDays: 9 });
    await upstow.projects.update(project?._id ?? "", { trashDays: 7 });
    const route = createFileRouter();
    const router = {
      kept: route({ routeSlug: "form", onUploadComplete: () => onComplete() }),
      later: route({ routeSlug: "form", expiresIn: 3600 }),
      always: route({ routeSlug: "form", expiresIn: null }),
      plain: route({ onUploadComplete: () => "stored" }),
    } satisfies FileRouter;
    handle = createRouteHandler({
      router,
      apiKey: service.apiKey,
      baseUrl: service.storage.url,
      onError: () => {},
    });
  });
  after(() => service.close());

  async function post<Answer>(body: object): Promise<Answer & { error?: { code: string } }> {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await handle(new Request("http://site.example/api/upload", init));
    return (await response.json()) as Answer & { error?: { code: string } };
  }

  /** As a browser sends them; completes small ones together. */
  async function upload(route: string, files: (typeof picture)[]) {
    const { tickets } = await post<BeginAnswer>({ action: "begin", route, files });
    const tokens: string[] = [];
    for (const [i, ticket] of tickets.entries()) {
      const { token, uploadUrl } = await post<StartAnswer>({ action: "start", ticket });
      const { size, type } = files[i] ?? picture;
      await fetch(uploadUrl ?? "", {
        method: "PUT",
        body: new Uint8Array(size),
        headers: { "content-type": type },
      });
      tokens.push(token);
    }
    return tokens;
  }
  const claims = () => service.storage.calls.filter((call) => call.endsWith("/files/claim")).length;
  const claimByOf = async (id: string) => (await upstow.files.get(id)).claimBy;

  it("are claimed when onUploadComplete resolves, many with one call", async () => {
    const before = claims();
    const [token] = await upload("kept", [picture]);
    const { file } = await post<CompleteAnswer>({ action: "complete", token });
    assert.equal(await claimByOf(file.id), null);
    assert.equal(claims(), before + 1);
    const tokens = await upload("kept", [picture, picture, picture]);
    const { answers } = await post<ManyAnswer<CompleteAnswer>>({ action: "completeMany", tokens });
    assert.equal(answers.length, 3);
    for (const answer of answers) assert.equal(await claimByOf((answer as CompleteAnswer).file.id), null);
    assert.equal(claims(), before + 2);
  });

  it("are claimed in parts too", async () => {
    const film = { name: "f.mp4", size: 11 * MB, type: "video/mp4" };
    const { tickets } = await post<BeginAnswer>({ action: "begin", route: "kept", files: [film] });
    const { token, parts = [] } = await post<StartAnswer>({ action: "start", ticket: tickets[0] });
    const sent = parts.map(async ({ partNumber, uploadUrl }, i) => {
      const body = new Uint8Array(Math.min(5 * MB, film.size - i * 5 * MB));
      const { headers } = await fetch(uploadUrl, { method: "PUT", body });
      return { partNumber, etag: headers.get("etag") };
    });
    const { file } = await post<CompleteAnswer>({
      action: "complete",
      token,
      parts: await Promise.all(sent),
    });
    assert.equal(await claimByOf(file.id), null);
  });

  it("wait where the callback fails, where there is none, and cost no call where none is needed", async () => {
    const before = claims();
    onComplete = () => {
      throw new Error("the database is away");
    };
    const [token] = await upload("kept", [picture]);
    assert.equal((await post({ action: "complete", token })).error?.code, "CALLBACK_FAILED");
    onComplete = () => {};
    const [newest] = (await upstow.files.list({ limit: 1 })).files;
    assert.notEqual(newest?.claimBy, null);
    const [open] = await upload("later", [picture]);
    const { file } = await post<CompleteAnswer>({ action: "complete", token: open });
    const stored = await upstow.files.get(file.id);
    assert.notEqual(stored.claimBy, null);
    assert.ok(Date.parse(stored.expiresAt ?? "") <= Date.now() + 3_600_000);
    const [always] = await upload("always", [picture]);
    const { file: kept } = await post<CompleteAnswer>({ action: "complete", token: always });
    assert.equal((await upstow.files.get(kept.id)).expiresAt, null);
    const [plain] = await upload("plain", [picture]);
    await post({ action: "complete", token: plain });
    assert.equal(claims(), before);
    // Completed again, as a browser does.
    assert.equal((await post<CompleteAnswer>({ action: "complete", token })).error, undefined);
    assert.equal(await claimByOf(newest?.id ?? ""), null);
  });

  it("are lost where the callback takes too long, and the browser is told", async () => {
    onComplete = () => service.app.clock.advance(60_001);
    const [token] = await upload("kept", [picture]);
    assert.equal((await post({ action: "complete", token })).error?.code, "NOT_FOUND");
    onComplete = () => {};
  });

  it("are claimed, deleted, listed, restored and purged by the client", async () => {
    const file = await upstow.upload(new Blob(["hello"]), {
      name: "a.txt",
      routeSlug: "form",
      expiresIn: 3600,
    });
    assert.ok(file.expiresAt !== null && file.claimBy !== null);
    assert.deepEqual(await upstow.files.claim([file.id, "none"]), {
      claimed: 1,
      failed: 1,
      failures: [{ key: "none", code: "NOT_FOUND", message: "File not found." }],
    });
    assert.equal((await upstow.files.claim(["none"])).claimed, 0);
    assert.equal((await upstow.files.update(file.id, { expiresAt: null })).expiresAt, null);
    const never = await upstow.upload(new Blob(["hello"]), { routeSlug: "form", expiresAt: null });
    assert.equal(never.expiresAt, null);
    await upstow.files.delete(file.key);
    const [trashed] = (await upstow.files.list({ status: "DELETED" })).files;
    assert.equal(trashed?.id, file.id);
    assert.equal((await upstow.files.restore([file.key])).restored, 1);
    assert.equal((await upstow.files.restore([file.key])).failed, 1);
    assert.equal((await upstow.files.deleteMany([file.id])).reclaimedBytes, 0);
    assert.equal((await upstow.files.deleteMany([file.id], { purge: true })).reclaimedBytes, 5);
  });
});
