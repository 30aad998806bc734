import assert from "node:assert/strict";
import { afterEach, beforeEach, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { STUDIO_PREVIEWS } from "@upstow/contract";
import sharp from "sharp";
import { statement } from "../src/db/statement.ts";
import { createSessionToken } from "./support/console-client.ts";
import { noise } from "./support/render/test-images.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

const photo = await sharp({ create: { width: 300, height: 200, channels: 3, background: "#37a" } })
  .jpeg()
  .toBuffer();
const grain = await noise(1024, 1024, 1).png().toBuffer();
/** Takes seconds on any machine. */
const giant = { height: 4096, fit: "cover", quality: 100, format: "avif" } as const;
const listInState = statement((q, p: { projectId: string; state: "rendering" | "ready" }) =>
  q
    .selectFrom("variant")
    .innerJoin("file", "file.id", "variant.file_id")
    .select("variant.id")
    .where("file.project_id", "=", p.projectId)
    .where("variant.state", "=", p.state),
);

onBothDatabases("one tenant's renders beside another's", (database) => {
  let app: TestApp;
  let greedy: Tenant;
  let other: Tenant;
  let large: string;

  // Of its own for each: what one has left to be rendered would hold up the next.
  beforeEach(async () => {
    app = await startApp({ database, keepRateLimits: true });
    other = await app.createTenant("enterprise");
    greedy = await app.createTenant("enterprise");
    large = (await uploadFile(app, grain, { key: greedy.live, name: "g.png", type: "image/png" })).key;
  });
  afterEach(() => app.close());

  async function urlOf(tenant: Tenant, body: object): Promise<string> {
    const made = await app.call("POST", "transforms/image", { key: tenant.live, body });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    return made.body.url;
  }

  /** Another tenant's picture, of a size nobody has asked for yet. */
  async function readOther(width: number): Promise<number> {
    const { key } = await uploadFile(app, photo, { key: other.live, name: "p.jpg", type: "image/jpeg" });
    const response = await fetch(await urlOf(other, { key, width, format: "webp" }));
    await response.bytes();
    return response.status;
  }

  const count = async (state: "rendering" | "ready") =>
    (await app.app.deps.db.all(listInState, { projectId: greedy.projectId, state })).length;

  async function openStudio(previews: number) {
    const cookie = `upstow_session=${await createSessionToken(app, greedy.accountId)}`;
    const stop = new AbortController();
    const answers = Array.from({ length: previews }, async (_, index) => {
      const query = new URLSearchParams({
        ...giant,
        key: large,
        height: "4096",
        quality: "100",
        width: `${3000 + index}`,
      });
      const response = await fetch(`${app.url}/dashboard/api/in/${greedy.projectId}/live/studio?${query}`, {
        headers: { cookie },
        signal: stop.signal,
      });
      await response.bytes();
      return { status: response.status, retryAfter: response.headers.get("retry-after") };
    });
    for (const answer of answers) answer.catch(() => {});
    return { answers, stop };
  }

  it("who has filled its queue is told to come back, and the other's image is rendered meanwhile", async () => {
    const urls: string[] = [];
    for (let width = 3000; width < 3075; width++)
      urls.push(await urlOf(greedy, { key: large, width, ...giant }));
    while ((await count("rendering")) < 64) await wait(20);
    const refused = await fetch(urls.at(-1) ?? "");
    assert.equal(refused.status, 503);
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.equal(await readOther(101), 200);
    assert.ok((await count("rendering")) > 50, "the other did not have to wait for them");
  });

  it("seventy previews of the studio are refused beyond a few, and hold up nobody", async () => {
    const { answers, stop } = await openStudio(70);
    const refused = await Promise.all(
      Array.from({ length: 50 }, async () => Promise.race(answers.map((answer) => answer))),
    );
    assert.ok(refused.every(({ status, retryAfter }) => status === 429 && Number(retryAfter) >= 1));
    assert.equal(await readOther(102), 200);
    assert.ok((await count("rendering")) <= STUDIO_PREVIEWS.running + STUDIO_PREVIEWS.waiting + 1);
    stop.abort();
    const settled = await Promise.allSettled(answers);
    const statuses = settled.map((outcome) =>
      outcome.status === "fulfilled" ? outcome.value.status : "gone",
    );
    assert.ok(statuses.filter((status) => status === 429).length >= 50, String(statuses));
  });

  it("what nobody waits for any more is not rendered", async () => {
    const { answers, stop } = await openStudio(8);
    while ((await count("rendering")) < 8) await wait(20);
    stop.abort();
    await Promise.allSettled(answers);
    // All but the one that had begun, or two: a worker may have come free in between.
    while ((await count("rendering")) > 2) await wait(20);
    assert.ok((await count("ready")) <= 2);
  });

  it("the studio is limited by the minute", async () => {
    const { key } = await uploadFile(app, photo, { key: greedy.live, name: "p.jpg", type: "image/jpeg" });
    const cookie = `upstow_session=${await createSessionToken(app, greedy.accountId)}`;
    const query = new URLSearchParams({ key, width: "50", fit: "cover", quality: "80", format: "webp" });
    const url = `${app.url}/dashboard/api/in/${greedy.projectId}/live/studio?${query}`;
    const ask = async () => {
      const response = await fetch(url, { headers: { cookie } });
      await response.bytes();
      return response;
    };
    assert.equal((await ask()).status, 200);
    for (let asked = 1; asked < STUDIO_PREVIEWS.perWindow; asked++) assert.equal((await ask()).status, 200);
    const over = await ask();
    assert.equal(over.status, 429);
    assert.match(over.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  });
});
