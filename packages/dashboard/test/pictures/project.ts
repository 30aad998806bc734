import type { Page } from "playwright-core";
import type { Scene } from "./scene.ts";
import { cutOff, inTurn, press, pressInDialog, type Shot, type Shots, see } from "./shot.ts";

/** The pages of a project other than its files. */
export async function* projectShots(scene: Scene): Shots {
  yield* startShots(scene);
  yield* paletteShots(scene);
  yield* routeShots(scene);
  yield* webhookShots(scene);
  yield* studioShots(scene);
  yield* recordShots(scene);
  yield* settingsShots(scene);
}

async function* startShots({ full, empty }: Scene): Shots {
  const as = full.accountId;
  // First, while this browser has not opened a project yet.
  yield { name: "projects", path: "", as };
  const path = `/${full.projectId}/live/overview`;
  yield { name: "overview", path, as, isTall: true };
  const emptyPath = `/${empty.projectId}/live/overview`;
  yield { name: "overview-empty", path: emptyPath, as: empty.accountId, isTall: true };
  const showCurl = inTurn(press("Create key"), see("It is included"), press("curl"));
  yield { name: "overview-key", path: emptyPath, as: empty.accountId, isTall: true, prepare: showCurl };
  const choose = (page: Page) => page.getByLabel("Project", { exact: true }).selectOption("new");
  yield { name: "new-project", path, as, prepare: choose };
  yield { name: "menu", path, as, widths: [390, 820], prepare: press("Menu") };
  yield { name: "not-found", path: `/${full.projectId}/live/nothing`, as };
  yield { name: "not-found-project", path: "/00000000-0000-7000-8000-000000000000/live/files", as };
  yield {
    name: "page-broken",
    path,
    as,
    prepare: inTurn(
      cutOff("**/assets/usage-*.js"),
      (page) => page.getByRole("link", { name: "Usage", exact: true }).click(),
      see("This page could not be shown"),
    ),
  };
}

async function* paletteShots({ full }: Scene): Shots {
  const as = full.accountId;
  const path = `/${full.projectId}/live/overview`;
  const open = (page: Page) => page.keyboard.press("ControlOrMeta+k");
  const find = (text: string, result: string) =>
    inTurn(
      open,
      (page) => page.keyboard.type(text),
      (page) => page.getByRole("dialog").getByText(result, { exact: true }).waitFor(),
    );
  yield { name: "palette", path, as, prepare: open };
  yield { name: "palette-pages", path, as, prepare: find("webhook", "Documentation") };
  yield { name: "palette-files", path, as, prepare: find("harbour", "Files") };
  yield { name: "palette-nothing", path, as, prepare: find("xyzzyx", "No results") };
}

async function* routeShots({ app, full, viewerId }: Scene): Shots {
  const as = full.accountId;
  const path = `/${full.projectId}/live/routes`;
  yield { name: "routes", path, as };
  yield { name: "routes-viewer", path, as: viewerId };
  yield { name: "route-form", path, as, prepare: press("Create route") };
  const openSections = (page: Page) =>
    page.evaluate(`(() => {
      for (const part of document.querySelectorAll("dialog details")) part.open = true;
      document.querySelector("dialog details").scrollIntoView();
    })()`);
  yield { name: "route-form-open", path, as, prepare: inTurn(press("Create route"), openSections) };
  yield {
    name: "route-form-wrong",
    path,
    as,
    async prepare(page) {
      await press("Create route")(page);
      await page.getByLabel("Slug").fill("avatars");
      await pressInDialog(page, "Save");
      await page.getByRole("dialog").getByRole("alert").waitFor();
    },
  };
  const body = {
    slug: "a-route-with-a-name-that-is-as-long-as-routes-of-large-organisations-tend-to-be",
    webhookUrl: `https://hooks.example.com/${"uploads/".repeat(20)}`,
    allowedTypes: ["image/jpeg", "image/png", "image/webp", "application/pdf"],
    maxFileSize: 5_000_000,
    access: "private",
  };
  await app.call("POST", `projects/${full.projectId}/routers`, { key: full.live, body });
  yield { name: "route-edit", path, as, prepare: press("Edit") };
  yield { name: "route-delete", path, as, prepare: press("Delete") };
  const test = inTurn(press("Test webhook"), (page) => page.getByRole("dialog").waitFor());
  yield { name: "route-test", path, as, prepare: test };
}

async function* webhookShots({ full, empty }: Scene): Shots {
  const as = full.accountId;
  const path = `/${full.projectId}/live/webhooks`;
  const list = (page: Page) => page.getByRole("list", { name: "Deliveries" });
  yield { name: "webhooks", path, as };
  yield { name: "webhooks-empty", path: `/${empty.projectId}/live/webhooks`, as: empty.accountId };
  yield { name: "webhooks-failed", path: `${path}?status=dead`, as };
  yield { name: "webhooks-nothing", path: `${path}?text=nothing-like-this`, as };
  yield { name: "webhooks-endpoint", path, as, prepare: press(/^Show deliveries to/) };
  yield {
    name: "webhooks-selected",
    path,
    as,
    async prepare(page) {
      await list(page).getByRole("checkbox").nth(0).check();
      await list(page).getByRole("checkbox").nth(2).check();
    },
  };
  yield { name: "bulk-resend", path, as, prepare: press("Bulk resend") };
  yield {
    name: "bulk-resend-preview",
    path,
    as,
    prepare: inTurn(press("Bulk resend"), press("Preview matches"), see(/match(?:es)?\.$/)),
  };
  const openFailed = (page: Page) => list(page).getByRole("button").first().click();
  const failed = `${path}?status=dead`;
  yield { name: "delivery", path: failed, as, prepare: openFailed };
  yield {
    name: "delivery-curl",
    path: failed,
    as,
    prepare: inTurn(openFailed, press("Show as curl"), see("As curl")),
  };
}

async function* studioShots({ full, empty, fileOf }: Scene): Shots {
  const as = full.accountId;
  const path = `/${full.projectId}/live/studio`;
  yield { name: "studio", path, as };
  yield { name: "studio-empty", path: `/${empty.projectId}/live/studio`, as: empty.accountId };
  const image = `${path}?key=${encodeURIComponent(fileOf(".webp").key)}`;
  const result = (page: Page) => page.getByRole("img", { name: "Result" }).waitFor();
  yield { name: "studio-image", path: image, as, isTall: true, prepare: result };
  const create = inTurn(result, press("Create URL and HTML"), see("Counted"));
  yield { name: "studio-html", path: image, as, isTall: true, prepare: create };
}

async function* recordShots({ full, empty }: Scene): Shots {
  const as = full.accountId;
  const live = `/${full.projectId}/live`;
  const openFirst = (page: Page) => page.locator(".rows details summary").first().click();
  yield { name: "logs", path: `${live}/logs`, as };
  yield { name: "logs-entry", path: `${live}/logs`, as, prepare: openFirst };
  yield { name: "logs-empty", path: `/${empty.projectId}/test/logs`, as: empty.accountId };
  yield { name: "usage", path: `${live}/usage`, as, isTall: true };
  yield { name: "usage-empty", path: `/${empty.projectId}/live/usage`, as: empty.accountId, isTall: true };
  yield { name: "audit", path: `${live}/audit`, as };
  yield { name: "audit-entry", path: `${live}/audit`, as, prepare: openFirst };
}

async function* settingsShots({ full, viewerId }: Scene): Shots {
  const settings = (section: string): Pick<Shot, "path" | "as"> => ({
    path: `/${full.projectId}/live/settings/${section}`,
    as: full.accountId,
  });
  for (const section of ["keys", "project", "storage", "delivery", "signing"])
    yield { name: `settings-${section}`, ...settings(section), isTall: true };
  yield { name: "settings-viewer", ...settings("project"), as: viewerId };
  yield { name: "create-key", ...settings("keys"), prepare: press("Create key") };
  yield {
    name: "key-created",
    ...settings("keys"),
    async prepare(page) {
      await press("Create key")(page);
      await page.getByRole("dialog").getByLabel("Name").fill("Production server");
      await pressInDialog(page, "Create");
      await see("Copy the key now.")(page);
    },
  };
  yield { name: "revoke-key", ...settings("keys"), prepare: press(/^Revoke/) };
  yield { name: "delete-project", ...settings("project"), prepare: press("Delete project") };
  yield { name: "own-bucket", ...settings("storage"), prepare: press("Use your own bucket") };
  yield {
    name: "own-domain-wrong",
    ...settings("delivery"),
    async prepare(page) {
      await page.getByLabel("Domain").fill("files.example.invalid");
      await press("Check and save")(page);
      await page.getByRole("alert").waitFor();
    },
  };
  yield { name: "signing-shown", ...settings("signing"), prepare: press(/^Show/) };
  yield { name: "rotate-keys", ...settings("signing"), prepare: press("Rotate keys") };
}
