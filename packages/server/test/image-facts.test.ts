import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import sharp from "sharp";
import { sql } from "#kysely";
import { statement } from "../src/db/statement.ts";
import {
  backfillFacts,
  claimFacts,
  countWaiting,
  findDueFacts,
  saveFacts,
} from "../src/serving/images/describe-images.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";
import { until } from "./support/webhooks/until.ts";

const photo = await sharp({ create: { width: 300, height: 200, channels: 3, background: "#336699" } })
  .withExif({
    IFD0: { Make: "Canon", Model: "Canon EOS R5" },
    IFD2: { DateTimeOriginal: "2026:02:28 12:34:56" },
    IFD3: {
      GPSLatitudeRef: "N",
      GPSLatitude: "52/1 30/1 36/1",
      GPSLongitudeRef: "E",
      GPSLongitude: "13/1 24/1 0/1",
    },
  })
  .jpeg()
  .toBuffer();
/** As files from before there were facts. */
const forgetFacts = statement((q, p: { projectId: string }) =>
  q.updateTable("file").set({ image: null, facts_due_at: null }).where("project_id", "=", p.projectId),
);
const hold = statement((q, p: { id: string }) =>
  q
    .updateTable("file")
    .set({ facts_due_at: sql.lit(9e15), image: null })
    .where("id", "=", p.id),
);
const findRow = statement((q, p: { id: string }) =>
  q.selectFrom("file").select(["image", "facts_due_at"]).where("id", "=", p.id),
);

onAnyDatabase("facts of images", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
  });
  after(() => app.close());

  const upload = (bytes: Uint8Array | string = photo, type = "image/jpeg", routeSlug = "default") =>
    uploadFile(app, bytes, { key: tenant.live, name: "photo.jpg", type, routeSlug });
  const get = async (key: string) => (await app.call("GET", `files/${key}`, { key: tenant.live })).body.file;
  const described = (key: string) => until(async () => (await get(key)).image);
  const rowOf = (id: string) => app.app.deps.db.get(findRow, { id });
  /** Also for what has none. */
  const settled = (id: string) =>
    until(async () => {
      const row = await rowOf(id);
      return row?.facts_due_at === null && row;
    });

  it("come after the upload on single-file answers, and in lists that ask for them", async () => {
    const file = await upload();
    assert.equal("image" in file, false);
    const image = await described(file.key);
    assert.deepEqual(image, {
      width: 300,
      height: 200,
      orientation: 1,
      frames: 1,
      hasAlpha: false,
      dominantColor: image.dominantColor,
      thumbhash: image.thumbhash,
      takenAt: "2026-02-28T12:34:56",
      camera: "Canon EOS R5",
    });
    assert.match(image.dominantColor, /^#3[0-9a-f]6[0-9a-f]9[0-9a-f]$/);
    const renamed = await app.call("PATCH", `files/${file.key}`, {
      key: tenant.live,
      body: { name: "b.jpg" },
    });
    assert.deepEqual(renamed.body.file.image, image);
    const list = async (query: string) =>
      (await app.call("GET", `files?limit=1${query}`, { key: tenant.live })).body.files[0];
    assert.equal("image" in (await list("")), false);
    assert.equal("image" in (await list("&include=metadata")), false);
    assert.deepEqual((await list("&include=image")).image, image);
    const both = await list("&include=metadata,image&type=image/*");
    assert.deepEqual([both.image, both.metadata], [image, {}]);
    const refused = await app.call("GET", "files?include=images", { key: tenant.live });
    assert.equal(refused.status, 400);
  });

  it("are null for what is damaged or no image, and not shown to other projects", async () => {
    const damaged = await upload(photo.subarray(0, 500));
    assert.deepEqual(await settled(damaged.id), { image: "null", facts_due_at: null });
    assert.equal((await get(damaged.key)).image, null);
    const text = await upload("hello", "text/plain");
    assert.deepEqual(await rowOf(text.id), { image: null, facts_due_at: null });
    assert.equal((await get(text.key)).image, null);
    const liar = await upload("<svg/>", "image/png");
    assert.equal((await settled(liar.id)).image, "null");
    await app.call("PATCH", `files/${damaged.key}`, { key: tenant.live, body: { access: "private" } });
    const other = await app.createTenant("pro");
    assert.equal((await app.call("GET", `files/${damaged.key}`, { key: other.live })).status, 404);
  });

  it("have the place only where the route keeps it, from then on", async () => {
    const path = `projects/${tenant.projectId}/routers`;
    const made = await app.call("POST", path, { key: tenant.live, body: { slug: "places" } });
    assert.equal(made.body.router.keepLocation, false);
    const before = await upload(photo, "image/jpeg", "places");
    assert.equal("location" in (await described(before.key)), false);
    const changed = await app.call("PATCH", `routers/${made.body.router.id}`, {
      key: tenant.live,
      body: { keepLocation: true },
    });
    assert.equal(changed.body.router.keepLocation, true);
    const file = await upload(photo, "image/jpeg", "places");
    assert.deepEqual((await described(file.key)).location, { latitude: 52.51, longitude: 13.4 });
    assert.equal("location" in (await get(before.key)).image, false);
  });

  it("are found again by another worker if the first one dies, and by one of several at a time", async () => {
    const { db } = app.app.deps;
    const file = await upload();
    await described(file.key);
    // Held by nobody that lives, until a moment that has already passed.
    await db.run(hold, { id: file.id });
    const claims = await Promise.all(
      Array.from({ length: 10 }, () => db.change(claimFacts, { id: file.id, seen: 9e15, leaseMs: 60_000 })),
    );
    assert.equal(claims.flat().length, 1);
    assert.notEqual((await db.get(findDueFacts, { projectId: "" }))?.id, file.id);
    const [claim] = claims.flat();
    const [again] = await db.change(claimFacts, { id: file.id, seen: claim?.facts_due_at ?? 0, leaseMs: -1 });
    assert.ok(again);
    assert.equal((await described(file.key)).width, 300);
    // The first one was only slow; what it says no longer counts.
    assert.equal(await db.run(saveFacts, { id: file.id, image: "null" }), 0);
    assert.equal((await get(file.key)).image.width, 300);
  });

  it("take turns between projects", async () => {
    const { db } = app.app.deps;
    const others = await Promise.all([app.createTenant("pro"), app.createTenant("pro")]);
    const order = [tenant, ...others].map(({ projectId }) => projectId).sort();
    const key = (each: Tenant) => ({ key: each.live, name: "p.jpg", type: "image/jpeg" });
    await Promise.all([tenant, ...others].map((each) => uploadFile(app, photo, key(each))));
    const seen: string[] = [];
    for (let last = ""; ; ) {
      const due = await db.get(findDueFacts, { projectId: last });
      if (due === null) break;
      assert.ok(order.includes(due.project_id));
      assert.ok(due.project_id > last);
      last = due.project_id;
      seen.push(last);
    }
    // The service may already have described some of them.
    assert.deepEqual(seen, seen.toSorted());
    await until(async () => (await countWaiting(db)) === 0);
  });

  it("come later to files that were there before, and again where they are to be retried", async () => {
    const { db } = app.app.deps;
    const own = await app.createTenant("pro");
    const options = { key: own.live, name: "p.jpg", type: "image/jpeg" };
    const good = await uploadFile(app, photo, options);
    const broken = await uploadFile(app, photo.subarray(0, 500), options);
    await uploadFile(app, "x", { ...options, type: "text/plain" });
    await Promise.all([settled(good.id), settled(broken.id)]);
    await db.run(forgetFacts, { projectId: own.projectId });
    const run = (retries: boolean) =>
      backfillFacts(
        db,
        { store: app.app.deps.store.name, imageTypes: app.app.deps.imageTypes, retries },
        () => {},
        new AbortController().signal,
      );
    const first = await run(false);
    assert.equal(first.images, 2);
    assert.ok(first.files >= 3);
    await until(async () => (await rowOf(good.id))?.image);
    assert.equal((await settled(broken.id)).image, "null");
    assert.equal((await run(false)).images, 0);
    assert.ok((await run(true)).images >= 1);
    assert.equal((await settled(broken.id)).image, "null");
    assert.equal((await app.call("GET", `files/${good.key}`, { key: own.live })).body.file.image.width, 300);
  });
});
