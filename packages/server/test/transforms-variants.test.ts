import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import sharp from "sharp";
import { statement } from "../src/db/statement.ts";
import { nameFile } from "../src/files/serialize.ts";
import { AppError } from "../src/kernel/errors.ts";
import { claimVariant, findVariant } from "../src/serving/images/queries.ts";
import { formatRecipe, type Recipe } from "../src/serving/images/recipe.ts";
import { maxSourceBytes } from "../src/serving/images/render/render-job.ts";
import type { RenderPool, RenderPoolOptions } from "../src/serving/images/render/render-pool.ts";
import { openTransforms } from "../src/serving/images/transforms.ts";
import { variantId } from "../src/serving/images/variant-signature.ts";
import { createVariants } from "../src/serving/images/variants.ts";
import { findServedFile } from "../src/serving/queries.ts";
import { openTestPool } from "./support/render/open-test-pool.ts";
import { noise } from "./support/render/test-images.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

const photo = await sharp({ create: { width: 300, height: 200, channels: 3, background: "#37a" } })
  .jpeg()
  .toBuffer();
const grain = await noise(512, 512, 1).png().toBuffer();
const recipe: Recipe = { width: 30, fit: "cover", quality: 80, format: "webp" };
const giant: Recipe = { width: 4096, height: 4096, fit: "cover", quality: 100, format: "avif" };
const listDeletions = statement((q, _: object) => q.selectFrom("storage_deletion").select("key"));

const expire = statement((q, p: { id: string }) =>
  q.updateTable("variant").set({ lease_until: 0 }).where("id", "=", p.id),
);

onBothDatabases("variants", (database) => {
  let app: TestApp;
  let pro: Tenant;
  const written: string[] = [];
  before(async () => {
    app = await startApp({ database });
    pro = await app.createTenant("pro");
    const { store } = app.app.deps;
    const write = store.write.bind(store);
    store.write = (key, ...rest) => {
      written.push(key);
      return write(key, ...rest);
    };
  });
  after(() => app.close());

  async function store(bytes: Buffer, type = "image/jpeg", owner = pro) {
    const { key } = await uploadFile(app, bytes, { key: owner.live, name: "p", type });
    const file = await app.app.deps.db.get(findServedFile, nameFile(key));
    assert.ok(file !== null);
    return file;
  }

  /** Another instance as far as variants go: its own workers and its own memory on the same database and store. */
  function openInstance(
    t: { after(work: () => Promise<void>): void },
    options: Partial<RenderPoolOptions> = {},
  ) {
    const pool = openTestPool(options);
    t.after(() => pool.close());
    return createVariants(app.app.deps, pool);
  }

  it("of a source with too many bytes are refused for those, whatever its pixels", async (t) => {
    const file = { ...(await store(photo)), size_bytes: maxSourceBytes + 1 };
    for (const instance of [openInstance(t), openInstance(t)]) {
      await assert.rejects(instance.get(file, recipe, "webp"), (error: AppError) => {
        assert.deepEqual([error.status, error.code], [422, "VALIDATION_ERROR"]);
        return /128 MiB/.test(error.message);
      });
    }
  });

  it("17: 50 who ask two instances at once get one encode", async (t) => {
    const file = await store(photo);
    const instances = [openInstance(t), openInstance(t)];
    written.length = 0;
    const asked = Array.from({ length: 50 }, (_, i) => instances[i % 2]?.get(file, recipe, "webp"));
    const variants = await Promise.all(asked);
    assert.equal(new Set(variants.map((variant) => variant?.store_key)).size, 1);
    assert.equal(written.length, 1);
    await instances[0]?.get(file, recipe, "webp");
    assert.equal(written.length, 1);
  });

  it("takes over from an instance that died, and clears away what that may have written", async (t) => {
    const file = await store(photo);
    const id = variantId(file.id, recipe, "webp");
    const storeKey = `${file.key.slice(0, file.key.lastIndexOf("/"))}/variants/${id}-dead`;
    await app.app.deps.store.write(storeKey, Buffer.from("half"), { contentType: "image/webp" });
    await app.app.deps.db.change(claimVariant, {
      id,
      fileId: file.id,
      store: file.store,
      storeKey,
      account: pro.accountId,
      recipe: formatRecipe(recipe),
      claim: "dead",
      leaseMs: -1000,
      usedAt: app.clock.now(),
    });
    const variant = await openInstance(t).get(file, recipe, "webp");
    assert.notEqual(variant.store_key, storeKey);
    const deletions = await app.app.deps.db.all(listDeletions, {});
    assert.ok(deletions.some(({ key }) => key === storeKey));
  });

  /** A pool that does something else before it renders, or when it has. */
  function interrupt(
    t: { after(work: () => Promise<void>): void },
    moment: "before" | "after",
    work: () => Promise<unknown>,
    patienceMs?: number,
  ) {
    const pool = openTestPool();
    t.after(() => pool.close());
    const render: RenderPool["render"] = async (request) => {
      if (moment === "before") await work();
      const result = await pool.render(request);
      if (moment === "after") await work();
      return result;
    };
    return createVariants(app.app.deps, { ...pool, render }, patienceMs);
  }

  const remove = (key: string) => app.call("DELETE", `files/${encodeURIComponent(key)}`, { key: pro.live });

  for (const [size, width, format] of [
    ["small", 30, "webp"],
    ["large", 500, "png"],
  ] as const) {
    it(`a file deleted when its ${size} variant is rendered has none afterwards`, async (t) => {
      const file = await store(grain, "image/png");
      const variants = interrupt(t, "after", () => remove(file.key));
      await assert.rejects(variants.get(file, { ...recipe, width, format }, format), { status: 404 });
      const id = variantId(file.id, { ...recipe, width, format }, format);
      const [key = ""] = written.slice(-1);
      assert.ok(key.includes(id));
      assert.equal(await app.app.deps.store.head(key), null);
      assert.equal(await app.app.deps.db.get(findVariant, { id }), null);
    });
  }

  it("what the store took without an answer is cleared away, and the next one who asks gets the variant", async (t) => {
    const file = await store(photo);
    const variants = openInstance(t);
    const { store: objects } = app.app.deps;
    const { write } = objects;
    objects.write = async (...args) => {
      await write(...args);
      objects.write = write;
      throw new Error("the answer was lost");
    };
    await assert.rejects(variants.get(file, recipe, "webp"), /the answer was lost/);
    const [key = ""] = written.slice(-1);
    assert.ok((await objects.head(key)) !== null);
    assert.ok((await app.app.deps.db.all(listDeletions, {})).some((deletion) => deletion.key === key));
    const made = await variants.get(file, recipe, "webp");
    assert.ok(made.state === "ready" && made.store_key !== key);
  });

  it("a file deleted before its source is read is not found, and no worker is blamed", async (t) => {
    const file = await store(grain, "image/png");
    written.length = 0;
    const variants = interrupt(t, "before", async () => {
      await remove(file.key);
      await app.app.deps.store.delete([file.key]);
    });
    await assert.rejects(variants.get(file, recipe, "webp"), { status: 404 });
    assert.deepEqual(written, []);
    assert.equal(await app.app.deps.db.get(findVariant, { id: variantId(file.id, recipe, "webp") }), null);
  });

  it("18: past its deadline an image is 422, and the next one is rendered", async (t) => {
    const variants = openInstance(t, { deadlineMs: 500 });
    const [slow, quick] = [await store(grain, "image/png"), await store(photo)];
    await variants.get(quick, recipe, "webp");
    await assert.rejects(variants.get(slow, giant, "avif"), { status: 422 });
    await assert.rejects(variants.get(slow, giant, "avif"), { status: 422 });
    assert.equal((await variants.get(quick, { ...recipe, width: 31 }, "webp")).state, "ready");
  });

  it("a full queue is 503 with a time to come back, and leaves nothing behind", async (t) => {
    const variants = openInstance(t, { waitingPerAccount: 0 });
    const file = await store(photo);
    const widths = [40, 41, 42, 43];
    const outcomes = await Promise.allSettled(
      widths.map((width) => variants.get(file, { ...recipe, width }, "webp")),
    );
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    assert.equal(refused.length, 3);
    for (const error of refused) {
      assert.ok(error instanceof AppError);
      assert.deepEqual([error.status, error.code], [503, "SERVICE_UNAVAILABLE"]);
      assert.match(error.headers["retry-after"] ?? "", /^[1-9]\d*$/);
    }
    for (const width of widths) {
      assert.equal((await variants.get(file, { ...recipe, width }, "webp")).state, "ready");
    }
  });

  it("who waits long is told to come back, and finds the image rendered then", async (t) => {
    const file = await store(photo);
    const turn = Promise.withResolvers<void>();
    const variants = interrupt(t, "before", () => turn.promise, 50);
    const waiting = [variants.get(file, recipe, "webp"), variants.get(file, recipe, "webp")];
    for (const outcome of await Promise.allSettled(waiting)) {
      assert.ok(outcome.status === "rejected" && outcome.reason instanceof AppError);
      assert.deepEqual([outcome.reason.status, outcome.reason.headers["retry-after"]], [503, "5"]);
    }
    turn.resolve();
    await variants.settled();
    assert.equal((await variants.get(file, recipe, "webp")).state, "ready");
  });

  /** A pool whose only workers are busy until it is told to go on, and whoever hangs up. */
  function openBusy(t: { after(work: () => Promise<void>): void }, options: Partial<RenderPoolOptions> = {}) {
    const pool = openTestPool({ waitingPerAccount: 1, ...options });
    t.after(() => pool.close());
    const goOn = Promise.withResolvers<Buffer>();
    const busy = { account: pro.accountId, recipe, format: "webp" } as const;
    pool.render({ ...busy, readSource: () => goOn.promise }).catch(() => {});
    const variants = createVariants(app.app.deps, pool);
    const ask = (file: Awaited<ReturnType<typeof store>>, width: number, isPreview = false) => {
      const stop = new AbortController();
      const asker = { isPreview, signal: () => stop.signal };
      const variant = variants.get(file, { ...recipe, width }, "webp", asker);
      variant.catch(() => {});
      return { variant, hangUp: () => stop.abort() };
    };
    const waitFor = async (queued: number) => {
      while (pool.status().queued !== queued) await wait(5);
    };
    return { pool, variants, ask, waitFor, goOn: () => goOn.resolve(photo) };
  }

  it("when all who wait have hung up, what has not begun is dropped, and its place and claim are free", async (t) => {
    const file = await store(photo);
    const { ask, waitFor, goOn } = openBusy(t);
    const leaving = [ask(file, 60), ask(file, 60)];
    await waitFor(1);
    for (const { hangUp } of leaving) hangUp();
    await waitFor(0);
    const { variant } = ask(file, 61);
    await waitFor(1);
    goOn();
    assert.equal((await variant).state, "ready");
    const dropped = variantId(file.id, { ...recipe, width: 60 }, "webp");
    assert.equal(await app.app.deps.db.get(findVariant, { id: dropped }), null);
    for (const { variant: gone } of leaving) await assert.rejects(gone, { status: 503 });
  });

  it("one who stays gets the image, whoever else hangs up, and one who comes in that moment too", async (t) => {
    const file = await store(photo);
    const { pool, ask, waitFor, goOn } = openBusy(t);
    const [leaves, stays] = [ask(file, 62), ask(file, 62)];
    await waitFor(1);
    leaves.hangUp();
    await assert.rejects(leaves.variant, { status: 503 });
    assert.equal(pool.status().queued, 1);
    stays.hangUp();
    const late = ask(file, 62);
    await waitFor(1);
    goOn();
    assert.equal((await late.variant).state, "ready");
  });

  it("what has begun is finished for whoever asks next", async (t) => {
    const file = await store(grain, "image/png");
    written.length = 0;
    const { ask, pool, goOn } = openBusy(t, { size: 2 });
    const { variant, hangUp } = ask(file, 63);
    while (pool.status().running < 2) await wait(5);
    hangUp();
    await assert.rejects(variant, { status: 503 });
    assert.equal((await ask(file, 63).variant).state, "ready");
    assert.equal(written.length, 1);
    goOn();
  });

  it("previews beyond a few are 429, and what a reader wants as well is none", async (t) => {
    const file = await store(photo);
    const { ask, waitFor, goOn } = openBusy(t, { previewsPerAccount: { running: 1, waiting: 1 } });
    const first = ask(file, 64, true);
    await waitFor(1);
    await assert.rejects(ask(file, 65, true).variant, (error: AppError) => {
      assert.deepEqual([error.status, error.code], [429, "RATE_LIMITED"]);
      return /^[1-9]\d*$/.test(error.headers["retry-after"] ?? "");
    });
    const reader = ask(file, 64);
    const second = ask(file, 65, true);
    await waitFor(2);
    await assert.rejects(ask(file, 66).variant, { status: 503 });
    goOn();
    for (const { variant } of [first, reader, second]) assert.equal((await variant).state, "ready");
  });

  it("keeps what was used last when there is no room for all", async (t) => {
    const { deps } = app.app;
    const transforms = await openTransforms(deps);
    t.after(() => transforms.close());
    await transforms.evict(0);
    const file = await store(photo);
    const made = [];
    for (const width of [10, 20, 30]) {
      made.push(await transforms.variants.get(file, { ...recipe, width }, "webp"));
      app.clock.advance(1000);
    }
    const [first, second, third] = made;
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    transforms.touch(first.id);
    await transforms.flush();
    await transforms.evict((first.size_bytes ?? 0) + (third.size_bytes ?? 0));
    const isKept = async (id: string) => (await deps.db.get(findVariant, { id })) !== null;
    assert.deepEqual(
      [await isKept(first.id), await isKept(second.id), await isKept(third.id)],
      [true, false, true],
    );
    assert.ok((await deps.db.all(listDeletions, {})).some(({ key }) => key === second.store_key));
  });

  it("of an account with many push out its own, not another's that are older", async (t) => {
    const transforms = await openTransforms(app.app.deps);
    t.after(() => transforms.close());
    await transforms.evict(0);
    const theirs = await store(photo, "image/jpeg", await app.createTenant("pro"));
    const few = [await transforms.variants.get(theirs, recipe, "webp")];
    const own = await store(photo);
    const many = [];
    for (const background of ["000001", "000002", "000003", "000004"]) {
      app.clock.advance(1000);
      many.push(await transforms.variants.get(own, { ...recipe, background }, "webp"));
    }
    const sizeOf = (variants: { size_bytes: number | null }[]) =>
      variants.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0);
    const listKept = async (variants: { id: string }[]) => {
      const rows = await Promise.all(variants.map(({ id }) => app.app.deps.db.get(findVariant, { id })));
      return rows.map((row) => row !== null);
    };
    await transforms.evict(sizeOf([...few, ...many.slice(2)]));
    assert.deepEqual(await listKept([...few, ...many]), [true, false, false, true, true]);
    await transforms.evict(sizeOf(few));
    const left = (await listKept([...few, ...many])).filter(Boolean).length;
    assert.equal(left, 1, "equal shares take turns");
  });

  it("that failed are forgotten once they may be tried again", async (t) => {
    const { db } = app.app.deps;
    const transforms = await openTransforms(app.app.deps);
    t.after(() => transforms.close());
    const file = await store(Buffer.from("no image at all"));
    const ids = await Promise.all(
      [31, 32].map(async (width) => {
        await assert.rejects(transforms.variants.get(file, { ...recipe, width }, "webp"));
        return variantId(file.id, { ...recipe, width }, "webp");
      }),
    );
    await db.run(expire, { id: ids[0] ?? "" });
    await transforms.evict(Number.MAX_SAFE_INTEGER);
    const states = await Promise.all(ids.map(async (id) => (await db.get(findVariant, { id }))?.state));
    assert.deepEqual(states, [undefined, "failed"]);
  });

  it("renders anew, at once, what the store has lost", async () => {
    const file = await store(photo);
    const body = { key: file.key, width: 33, format: "png", delivery: "public" };
    const { url } = (await app.call("POST", "transforms/image", { key: pro.live, body })).body;
    const first = await (await fetch(url)).bytes();
    const [key = ""] = written.slice(-1);
    await app.app.deps.store.delete([key]);
    const again = await fetch(url);
    assert.equal(again.status, 200);
    assert.deepEqual(await again.bytes(), first);
  });
});
