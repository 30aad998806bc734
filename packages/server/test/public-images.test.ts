import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { IMAGE_QUALITIES, IMAGE_WIDTHS } from "@upstow/contract";
import sharp from "sharp";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

const photo = await sharp({ create: { width: 1000, height: 600, channels: 3, background: "#37a" } })
  .jpeg()
  .toBuffer();
/** Red, green and blue side by side. */
const stripes = await sharp(Buffer.from([255, 0, 0, 0, 255, 0, 0, 0, 255]), {
  raw: { width: 3, height: 1, channels: 3 },
})
  .resize(300, 100, { kernel: "nearest", fit: "fill" })
  .png()
  .toBuffer();

onAnyDatabase("public variants without a signature", (database) => {
  let app: TestApp;
  let free: Tenant;
  before(async () => {
    app = await startApp({ database });
    free = await app.createTenant("free");
  });
  after(() => app.close());

  const upload = async (key: string, bytes = photo, type = "image/jpeg"): Promise<string> =>
    (await uploadFile(app, bytes, { key, name: "photo.jpg", type })).key;
  const urlOf = (recipe: string, key: string) => `${app.url}/i/${recipe}/${key}`;
  const read = (recipe: string, key: string, init: RequestInit = {}) => fetch(urlOf(recipe, key), init);
  const statusOf = async (recipe: string, key: string) => {
    const response = await read(recipe, key);
    await response.bytes();
    return response.status;
  };
  const unitsOf = async (key: string) =>
    (await app.call("GET", "usage", { key })).body.usage.transformUnits as number;
  const patchProject = (tenant: Tenant, body: object) =>
    app.call("PATCH", `projects/${tenant.projectId}`, { key: tenant.live, body });

  it("serves listed widths and qualities to anyone, of live and test files, on every tier", async () => {
    for (const tenant of [free, await app.createTenant("pro")]) {
      for (const secret of [tenant.live, tenant.test]) {
        const key = await upload(secret);
        const response = await read("w_640,fit_scale-down,q_75,f_webp", key);
        assert.equal(response.status, 200);
        assert.equal(response.headers.get("content-type"), "image/webp");
        const { width, height } = await sharp(await response.bytes()).metadata();
        assert.deepEqual([width, height], [640, 384]);
      }
    }
  });

  it("serves any height beside a listed width, a listed height alone, and any other field", async () => {
    const key = await upload(free.live);
    for (const recipe of [
      "w_64,h_33,fit_cover,q_85,f_png",
      "h_64,fit_contain,q_75,f_jpeg",
      "w_64,h_64,fit_pad,q_75,f_jpeg,g_ne,bg_00ff00,blur_3,rot_90",
    ])
      assert.equal(await statusOf(recipe, key), 200, recipe);
  });

  it("answers 403 to what is not on the lists or not canonical, and keeps that out of caches", async () => {
    const key = await upload(free.live);
    for (const recipe of [
      "w_641,fit_scale-down,q_75,f_webp",
      "h_33,fit_scale-down,q_75,f_webp",
      "w_640,fit_scale-down,q_76,f_webp",
      "w_0640,fit_scale-down,q_75,f_webp",
      "fit_scale-down,w_640,q_75,f_webp",
      "w_640,fit_scale-down,q_75,f_webp,bg_000000,g_n",
      "avatar",
    ]) {
      const response = await read(recipe, key);
      assert.equal(response.status, 403, recipe);
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.equal(response.headers.get("access-control-allow-origin"), "*");
      assert.equal(((await response.json()) as { error: { code: string } }).error.code, "FORBIDDEN");
    }
    const slash = await fetch(`${urlOf("w_640,fit_scale-down,q_75,f_webp", key)}/`);
    assert.equal(slash.status, 403);
  });

  it("does not tell private, deleted and unknown files apart, whatever the recipe", async () => {
    const keys = await Promise.all([upload(free.live), upload(free.live)]);
    const [hidden, gone] = keys as [string, string];
    for (const recipe of ["w_640,fit_scale-down,q_75,f_webp", "w_641,fit_scale-down,q_75,f_webp", "avatar"]) {
      await app.call("PATCH", `files/${hidden}`, { key: free.live, body: { access: "private" } });
      await app.call("DELETE", `files/${gone}`, { key: free.live });
      const answers = await Promise.all(
        [hidden, gone, `${free.projectId}/default/none/x.jpg`].map(async (key) => {
          const response = await read(recipe, key);
          const { "x-request-id": _, date: __, ...headers } = Object.fromEntries(response.headers);
          return { status: response.status, headers, body: await response.json() };
        }),
      );
      assert.equal(answers[0]?.status, 404);
      for (const answer of answers) assert.deepEqual(answer, answers[0], recipe);
    }
  });

  it("sends what /p/ sends for the same recipe", async () => {
    const pro = await app.createTenant("pro");
    const key = await upload(pro.live);
    for (const format of ["webp", "auto"] as const) {
      const body = { key, width: 256, quality: 75, format, delivery: "public" };
      const made = await app.call("POST", "transforms/image", { key: pro.live, body });
      const answers = [];
      for (const url of [made.body.url, urlOf(`w_256,fit_scale-down,q_75,f_${format}`, key)])
        for (const init of [{}, { headers: { range: "bytes=0-9" } }, { method: "HEAD" }]) {
          const response = await fetch(url, init);
          const { "x-request-id": _, date: __, ...headers } = Object.fromEntries(response.headers);
          answers.push([response.status, headers, Buffer.from(await response.bytes()).toString("hex")]);
        }
      assert.deepEqual(answers.slice(3), answers.slice(0, 3));
      assert.equal(answers[0]?.[0], 200);
    }
    const preflight = await read("w_256,fit_scale-down,q_75,f_webp", key, { method: "OPTIONS" });
    assert.equal(preflight.status, 204);
  });

  it("counts one unit per file and month, however many read how many variants at once", async () => {
    const tenant = await app.createTenant("pro");
    const keys = await Promise.all([upload(tenant.live), upload(tenant.live)]);
    await Promise.all(
      keys.flatMap((key) =>
        Array.from({ length: 20 }, (_, i) =>
          statusOf(`w_${[16, 32, 48, 64][i % 4]},fit_scale-down,q_75,f_webp`, key),
        ),
      ),
    );
    assert.equal(await unitsOf(tenant.live), 2);
    assert.equal(await unitsOf(tenant.test), 0);
    assert.equal(await statusOf("w_641,fit_scale-down,q_75,f_webp", await upload(tenant.live)), 403);
    assert.equal(await unitsOf(tenant.live), 2);
    app.clock.advance(32 * 24 * 3_600_000);
    await statusOf("w_16,fit_scale-down,q_75,f_webp", keys[0] ?? "");
    assert.equal(await unitsOf(tenant.live), 1);
  });

  it("charges nothing for what cannot be rendered", async () => {
    const tenant = await app.createTenant("pro");
    const broken = await upload(tenant.live, photo.subarray(0, 300));
    const text = await upload(tenant.live, Buffer.from("hello"), "text/plain");
    assert.equal(await statusOf("w_64,fit_scale-down,q_75,f_webp", broken), 422);
    assert.equal(await statusOf("w_64,fit_scale-down,q_75,f_webp", text), 415);
    assert.equal(await unitsOf(tenant.live), 0);
  });

  it("has defaults, shows the lists on the single project, and follows changes at once", async () => {
    const tenant = await app.createTenant("free");
    const path = `projects/${tenant.projectId}`;
    const { project } = (await app.call("GET", path, { key: tenant.test })).body;
    assert.deepEqual(project.imageWidths, [...IMAGE_WIDTHS]);
    assert.deepEqual(project.imageQualities, [...IMAGE_QUALITIES]);
    assert.deepEqual(project.imagePresets, {});
    const key = await upload(tenant.live);
    assert.equal(await statusOf("w_16,fit_scale-down,q_75,f_webp", key), 200);

    const avatar = { width: 33, height: 33, fit: "cover", quality: 60, format: "webp", gravity: "n" };
    const changed = await patchProject(tenant, { imageWidths: [100], imagePresets: { avatar } });
    assert.equal(changed.status, 200);
    assert.deepEqual(changed.body.project.imageWidths, [100]);
    assert.deepEqual(changed.body.project.imagePresets, { avatar });
    assert.deepEqual((await app.call("GET", path, { key: tenant.live })).body, changed.body);
    assert.equal(await statusOf("w_16,fit_scale-down,q_75,f_webp", key), 403);
    assert.equal(await statusOf("w_100,fit_scale-down,q_85,f_webp", key), 200);
    assert.equal(await statusOf("w_33,h_33,fit_cover,q_60,f_webp,g_n", key), 200);
    const named = await read("avatar", key);
    assert.equal(named.status, 200);
    const { width, height, format } = await sharp(await named.bytes()).metadata();
    assert.deepEqual([width, height, format], [33, 33, "webp"]);
    await patchProject(tenant, { imageWidths: [], imageQualities: [], imagePresets: {}, name: "closed" });
    assert.equal(await statusOf("w_100,fit_scale-down,q_85,f_webp", key), 403);
    assert.equal(await statusOf("avatar", key), 403);
    const listed = await app.call("GET", "projects", { key: tenant.live });
    assert.ok(listed.body.projects.every((each: object) => !("imageWidths" in each)));
  });

  it("rejects lists and presets that no variant could have, and test keys", async () => {
    for (const [body, field] of [
      [{ imageWidths: [0] }, "imageWidths.0"],
      [{ imageWidths: [4097] }, "imageWidths.0"],
      [{ imageWidths: [1.5] }, "imageWidths.0"],
      [{ imageWidths: "16" }, "imageWidths"],
      [{ imageWidths: [16, 16] }, "imageWidths"],
      [{ imageWidths: Array.from({ length: 65 }, (_, i) => i + 1) }, "imageWidths"],
      [{ imageQualities: [101] }, "imageQualities.0"],
      [{ imagePresets: { a: {} } }, "imagePresets.a"],
      [{ imagePresets: { a: { width: 10, background: "#fff" } } }, "imagePresets.a.background"],
    ] as const)
      expectInvalid(await patchProject(free, body), field);
    const many = Array.from({ length: 65 }, (_, i) => [`p${i}`, { width: 10 }]);
    for (const [body, message] of [
      [{ imageWidths: [0] }, "imageWidths.0 must be at least 1"],
      [{ imageWidths: [4097] }, "imageWidths.0 must be at most 4096"],
      [{ imageWidths: [16, 16] }, "imageWidths must not contain the same item twice"],
      [{ imagePresets: Object.fromEntries(many) }, "imagePresets must have at most 64 keys"],
    ] as const)
      assert.equal(expectError(await patchProject(free, body), 400, "VALIDATION_ERROR").message, message);
    for (const name of ["w_16", "A", "", "a".repeat(51)])
      expectError(
        await patchProject(free, { imagePresets: { [name]: { width: 10 } } }),
        400,
        "VALIDATION_ERROR",
      );
    const refused = await app.call("PATCH", `projects/${free.projectId}`, {
      key: free.test,
      body: { imageWidths: [16] },
    });
    expectError(refused, 401, "UNAUTHORIZED");
  });

  it("cuts around the focus point of the file, whose change is another variant", async () => {
    const key = await upload(free.live, stripes, "image/png");
    const colourAt = async (recipe: string) => {
      const response = await read(recipe, key);
      assert.equal(response.status, 200);
      const { data } = await sharp(await response.bytes())
        .removeAlpha()
        .raw()
        .toBuffer({ resolveWithObject: true });
      return [...data.subarray(0, 3)].map((value) => Math.round(value / 255)).join("");
    };
    const recipe = "w_32,h_32,fit_cover,q_75,f_png,g_focus";
    const patch = (focus: object | null) =>
      app.call("PATCH", `files/${key}`, { key: free.live, body: { focus } });
    for (const [x, colour] of [
      [0, "100"],
      [0.5, "010"],
      [1, "001"],
    ] as const) {
      const { status, body } = await patch({ x, y: 0.3 });
      assert.equal(status, 200);
      assert.deepEqual(body.file.focus, { x, y: 0.3 });
      assert.equal(await colourAt(recipe), colour);
    }
    assert.equal(await colourAt("w_32,h_32,fit_cover,q_75,f_png,g_w"), "100");
    assert.equal(await colourAt("w_32,h_32,fit_cover,q_75,f_png,g_e"), "001");
    assert.equal(await colourAt("w_32,h_32,fit_cover,q_75,f_png"), "010");
    assert.equal("focus" in (await patch(null)).body.file, false);
    for (const focus of [{ x: 2, y: 0 }, { x: 0 }, "0,0", { x: "0", y: 0 }])
      expectError(await patch(focus as object), 400, "VALIDATION_ERROR");
  });

  it("takes the new fields in POST /transforms/image and names them in the URL, in order", async () => {
    const pro = await app.createTenant("pro");
    const key = await upload(pro.live, stripes, "image/png");
    const extras = { gravity: "focus", background: "A0b1C2", blur: 100, rotate: 270 };
    const transform = (body: object) =>
      app.call("POST", "transforms/image", {
        key: pro.live,
        body: { key, width: 60, height: 60, fit: "pad", delivery: "public", ...body },
      });
    const made = await transform({ ...extras, format: "png" });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    assert.match(made.body.url, /\/w_60,h_60,fit_pad,q_85,f_png,g_focus,bg_a0b1c2,blur_100,rot_270\//);
    assert.deepEqual(made.body.transform, {
      width: 60,
      height: 60,
      fit: "pad",
      quality: 85,
      format: "png",
      ...extras,
      background: "a0b1c2",
    });
    const response = await fetch(made.body.url);
    assert.equal(response.status, 200);
    for (const wrong of [
      { gravity: "north" },
      { background: "#ffffff" },
      { background: "fff" },
      { blur: 0 },
      { blur: 101 },
      { rotate: 45 },
      { rotate: "90" },
    ])
      expectError(await transform(wrong), 400, "VALIDATION_ERROR");
  });
});
