import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import { insertManyFiles } from "../../../server/test/support/many-files.ts";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { copyWith } from "../support/settled.ts";

let dashboard: Dashboard;
let photo: Buffer;
before(async () => {
  dashboard = await startDashboard();
  photo = await sharp({ create: { width: 1000, height: 500, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
});
after(() => dashboard.close());

const uploadPhoto = (tenant: Tenant, name = "photo.png") =>
  uploadFile(dashboard.app, photo, { key: tenant.live, name, type: "image/png" });
const studioUrl = ({ projectId }: Tenant, environment = "live") =>
  `${dashboard.app.url}/dashboard/${projectId}/${environment}/studio`;

test("an image is picked, its knobs are turned, and each format shows its bytes", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const file = await uploadPhoto(tenant, "it's a photo.png");
  const { page, context } = await dashboard.open(tenant.accountId);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(studioUrl(tenant));
  await page.getByRole("button", { name: "it's a photo.png" }).click();
  const result = page.getByRole("img", { name: "Result" });
  await page.getByText("800 × 400 pixels").waitFor();
  for (const format of ["avif", "webp", "jpeg", "png"])
    await page
      .getByLabel(`${format} size`)
      .filter({ hasText: /\d (B|KB) · \d+%/ })
      .waitFor();
  await page.getByLabel("Width").fill("200");
  await page.getByLabel("Height").fill("200");
  await page.getByLabel("Fit").selectOption("cover");
  await page.getByLabel("Format").selectOption("jpeg");
  await page.getByText("200 × 200 pixels").waitFor();
  await result.waitFor();
  assert.equal((await dashboard.app.call("GET", "usage", { key: tenant.live })).body.usage.transformUnits, 0);

  // By its place and not by its name, which changes for a moment when it is pressed.
  const copied = (name: string) =>
    copyWith(
      page,
      page
        .locator(".code-block")
        .filter({ has: page.getByLabel(name, { exact: true }) })
        .getByRole("button"),
    );
  const curl = await copied("curl");
  const sent = /-d '(.*)'$/s.exec(curl)?.[1]?.replaceAll("'\\''", "'") ?? "";
  const body = {
    key: file.key,
    width: 200,
    height: 200,
    fit: "cover",
    quality: 85,
    format: "jpeg",
    delivery: "signed",
  };
  assert.deepEqual(JSON.parse(sent), body);
  assert.match(await copied("SDK"), /transforms\.image\(\{/);
  await page.getByRole("button", { name: "Create URL and HTML" }).click();
  await page.getByText("Counted as 1 unit: 1 of 5,000 used.").waitFor();
  const [, url = ""] = /^<img src="([^"]+)" width="200" height="200"/.exec(await copied("HTML")) ?? [];
  const made = await fetch(url);
  assert.deepEqual([made.status, made.headers.get("content-type")], [200, "image/jpeg"]);
  await page.getByLabel("Width").fill("");
  await page.getByLabel("Height").fill("");
  await page.getByText("Enter a width or height").waitFor();
  await context.close();
});

test("the focus point is pressed on the picture, and pages get URLs that need no call", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const stripes = await sharp(Buffer.from([255, 0, 0, 0, 255, 0, 0, 0, 255]), {
    raw: { width: 3, height: 1, channels: 3 },
  })
    .resize(300, 100, { kernel: "nearest", fit: "fill" })
    .png()
    .toBuffer();
  const options = { key: tenant.live, name: "stripes.png", type: "image/png" };
  const { key } = await uploadFile(dashboard.app, stripes, options);
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(
    `${studioUrl(tenant)}?${new URLSearchParams({ key, width: "96", height: "96", fit: "cover" })}`,
  );
  await page.getByLabel("Gravity").selectOption("focus");
  await page.getByLabel("Format").selectOption("png");
  const getFocus = async () =>
    (await dashboard.app.call("GET", `files/${key}`, { key: tenant.live })).body.file.focus;
  const picture = page.getByRole("button", { name: "Click the part to keep in view" });
  const { width = 0, height = 0 } = (await picture.boundingBox()) ?? {};
  await picture.click({ position: { x: width * 0.9, y: height / 2 } });
  await page.getByText("From the left 90%").waitFor();
  const { x, y } = await getFocus();
  assert.ok(Math.abs(x - 0.9) < 0.02 && Math.abs(y - 0.5) < 0.02, `${x} ${y}`);

  const html = await page.getByLabel("Responsive HTML", { exact: true }).textContent();
  const [, src = ""] = /src="([^"]+)"/.exec(html ?? "") ?? [];
  assert.match(src, /\/i\/w_\d+,h_\d+,fit_cover,q_85,f_png,g_focus\//);
  const response = await fetch(src);
  assert.equal(response.status, 200);
  const [red = 255, , blue = 0] = await sharp(await response.bytes())
    .removeAlpha()
    .raw()
    .toBuffer();
  assert.ok(red < 50 && blue > 200, "the blue end of the stripes");
  await page.getByLabel("React", { exact: true }).getByText("<UpstowImage").waitFor();
  await page.getByLabel("Quality").fill("60");
  await page.getByText("60 is not in the project's imageQualities").waitFor();
  await context.close();
});

test("where there is nothing to try, the page says why", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(studioUrl(tenant));
  await page.getByText("No images yet").waitFor();
  await page.goto(studioUrl(tenant, "test"));
  await page.getByText("The studio needs a live file").waitFor();
  await page.goto(`${studioUrl(tenant)}?key=nothing`);
  await page.getByRole("alert").getByText("File not found.").waitFor();
  await context.close();

  const free = await dashboard.app.createTenant("free");
  const { key } = await uploadPhoto(free);
  const { page: other, context: ending } = await dashboard.open(free.accountId);
  await other.goto(`${studioUrl(free)}?key=${encodeURIComponent(key)}`);
  await other.getByText("Image variants are not part of the Free plan.").waitFor();
  await ending.close();
});

test("images are picked however many there are, and whatever others there are beside them", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { projectId } = tenant;
  const name = (index: number) => `${index}.${index < 70 ? "png" : "svg"}`;
  const image = JSON.stringify({ width: 40, height: 30, frames: 1 });
  const describe = (index: number) => ({
    name: name(index),
    ...(index < 70 ? { type: "image/png", image } : { type: "image/svg+xml" }),
  });
  await insertManyFiles(app, { projectId, count: 140, describe });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(studioUrl(tenant));
  await page.getByRole("button", { name: name(69) }).waitFor();
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("button", { name: name(0), exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Show more" }).count(), 0);
  await context.close();
});
