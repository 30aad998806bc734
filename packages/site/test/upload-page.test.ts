import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { findBarriers } from "../../../test/support/axe.ts";
import { startFaultProxy } from "../../../test/support/fault-proxy.ts";
import { getBrowser } from "../../server/test/support/shared-browser.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";

describe("an upload link", () => {
  let app: TestApp;
  let browser: Browser;
  before(async () => {
    [app, browser] = await Promise.all([startApp({ database: "sqlite" }), getBrowser()]);
  });
  after(() => app?.close());

  async function createLink(fields: object): Promise<string> {
    const body = { routeSlug: "default", ...fields };
    const answer = await app.call("POST", "upload/grants", { key: app.owner.live, body });
    return `${app.url}/form/${answer.body.grant.token}`;
  }
  async function open(link: string, options: BrowserContextOptions = {}) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    const answer = await page.goto(link);
    return { page, complaints, answer, close: () => context.close() };
  }
  const named = (name: string, size = 5) => ({
    name,
    mimeType: "text/plain",
    buffer: Buffer.alloc(size, "a"),
  });
  const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
  const unnamed = `application/vnd.${"example".repeat(6)}`;
  const listNames = async (): Promise<string[]> => {
    const { body } = await app.call("GET", "files?status=UPLOADED", { key: app.owner.live });
    return body.files.map(({ name }: { name: string }) => name);
  };

  it("is a page that says what it takes, uploads file by file, and ends with the last place", async () => {
    const link = await createLink({
      maxFiles: 2,
      maxFileSize: 1024,
      allowedTypes: ["text/plain", "image/*", word, "application/zip", unnamed],
    });
    for (const [width, colorScheme] of [
      [390, "light"],
      [1440, "dark"],
      [1920, "light"],
    ] as const) {
      const { page, complaints, answer, close } = await open(link, {
        viewport: { width, height: 800 },
        colorScheme,
      });
      assert.equal(answer?.headers()["cache-control"], "no-store");
      assert.equal(answer?.headers()["referrer-policy"], "no-referrer");
      assert.equal(
        await page.locator(".lead").textContent(),
        `Up to 2 files of 1 KB each. Accepted: plain text, images, Word, ZIP, ${unnamed}.`,
      );
      assert.match((await page.locator("input").getAttribute("accept")) ?? "", /^text\/plain,image\/\*,/);
      assert.deepEqual(await findBarriers(page), []);
      await page.locator("input").setInputFiles(named(`${"a long name ".repeat(9)}.txt`, 2000));
      await page.locator("li", { hasText: "Too large" }).waitFor();
      assert.equal(await page.locator("progress").isVisible(), false);
      assert.ok(((await page.locator(".drop").boundingBox())?.width ?? 0) > 340, `${width} px`);
      const overflow = "document.documentElement.scrollWidth - innerWidth";
      assert.ok(((await page.evaluate(overflow)) as number) <= 0);
      assert.deepEqual(complaints, []);
      await close();
    }
    const { page, close } = await open(link);
    await page
      .locator("input")
      .setInputFiles([
        named("Größe <b>.txt"),
        named("large.txt", 1025),
        { ...named("page.html"), mimeType: "text/html" },
      ]);
    const rows = page.locator(".sent li");
    await rows.locator("nth=0").locator("text=Uploaded").waitFor();
    await rows.locator("nth=2").locator("text=Files of type text/html are not accepted here.").waitFor();
    assert.match((await rows.nth(1).textContent()) ?? "", /Too large: at most 1 KB\./);
    assert.deepEqual(await listNames(), ["Größe <b>.txt"]);
    assert.equal(await page.locator(".drop").isVisible(), true);

    await page.locator("input").setInputFiles(named("last.txt"));
    await page.locator("text=2 of 4 files uploaded.").waitFor();
    assert.equal(await page.locator(".drop").isVisible(), false);
    assert.deepEqual((await listNames()).sort(), ["Größe <b>.txt", "last.txt"]);
    assert.equal((await page.reload())?.status(), 403);
    assert.match((await page.locator("main").textContent()) ?? "", /This link has already been used/);
    await close();
  });

  it("offers to try again after a lost connection, and while the service cannot store files", async () => {
    const { page, close } = await open(await createLink({}));
    await page.route("**/resumable", (route) => route.abort(), { times: 1 });
    await page.locator("input").setInputFiles(named("again.txt"));
    await page.locator("li", { hasText: "The connection was lost." }).waitFor();
    await page.route("**/resumable/*", (route) => route.fulfill({ status: 507, json: {} }), { times: 1 });
    const again = page.locator("button", { hasText: "Try again" });
    await again.click();
    await page.locator("li", { hasText: "could not be stored right now" }).waitFor();
    assert.match(
      (await page.locator("[role=status]").textContent()) ?? "",
      /^again\.txt: The file could not/,
    );
    await again.click();
    await page.locator("text=All files are uploaded.").waitFor();
    assert.ok((await listNames()).includes("again.txt"));
    await close();
  });

  it("continues a large file where it was cut, without another place of its grant", async () => {
    const proxy = await startFaultProxy(app.url);
    try {
      const cuts = [{ kind: "cut-body", afterBytes: 2_000_000 } as const];
      const offsets: number[] = [];
      proxy.setFaults(({ method, headers }) => {
        if (method !== "PATCH") return null;
        offsets.push(Number(headers["upload-offset"]));
        return cuts.shift() ?? null;
      });
      const link = await createLink({});
      const { page, close } = await open(link.replace(app.url, proxy.url));
      const size = 5_000_000;
      await page.locator("input").setInputFiles(named("cut.txt", size));
      await page.locator("button", { hasText: "Try again" }).click();
      await page.locator("text=All files are uploaded.").waitFor();
      // Chromium repeats a request by itself if its connection was an old one.
      assert.ok(offsets[0] === 0 && (offsets.at(-1) ?? 0) > 0, offsets.join());
      const { body } = await app.call("GET", "files?name=cut.txt", { key: app.owner.live });
      assert.deepEqual([body.files.length, body.files[0].size], [1, size]);
      await close();
    } finally {
      await proxy.close();
    }
  });

  it("says which files have not arrived, because there were too many", async () => {
    const { page, close } = await open(await createLink({ maxFiles: 2 }));
    await page.locator("input").setInputFiles(["1.txt", "2.txt", "3.txt"].map((name) => named(name)));
    await page.locator("text=2 of 3 files uploaded. This link accepts no further files.").waitFor();
    const last = page.locator(".sent li").last();
    assert.match((await last.textContent()) ?? "", /Request a new one\./);
    await close();
  });

  it("takes another file after one whose content was rejected", async () => {
    const route = { slug: "checked", checkContent: "enforce", allowedTypes: ["image/*"] };
    const made = await app.call("POST", `projects/${app.owner.projectId}/routers`, {
      key: app.owner.live,
      body: route,
    });
    assert.equal(made.status, 201);
    const { page, close } = await open(await createLink({ routeSlug: "checked" }));
    const disguised = {
      name: "a.png",
      mimeType: "image/png",
      buffer: Buffer.from("<script>alert(1)</script>"),
    };
    for (let i = 0; i < 2; i++) {
      await page.locator("input").setInputFiles(disguised);
      await page.locator("[data-state=failed]", { hasText: "content" }).nth(i).waitFor();
      assert.equal(await page.locator("form").isVisible(), true);
    }
    await close();
  });

  it("uploads an empty file, and one whose name is not ASCII and has no type", async () => {
    const { page, close } = await open(await createLink({ maxFiles: 2 }));
    const files = [named("empty.txt", 0), { ...named("Größe '1' ✓"), mimeType: "" }];
    await page.locator("input").setInputFiles(files);
    await page.locator("text=All files are uploaded.").waitFor();
    const names = await listNames();
    for (const { name } of files) assert.ok(names.includes(name), `${name}: ${names}`);
    await close();
  });

  it("works without script", async () => {
    const { page, close } = await open(await createLink({}), { javaScriptEnabled: false });
    assert.equal(await page.locator(".lead").textContent(), "One file of up to 10 GB.");
    assert.equal(await page.locator("input").getAttribute("accept"), null);
    // The browser's own control shows which file was selected.
    assert.ok(((await page.locator("input").boundingBox())?.width ?? 0) > 100);
    assert.equal(await page.locator(".drop").isVisible(), false);
    await page.locator("input").setInputFiles(named("plain.txt"));
    await page.locator("button", { hasText: "Upload" }).click();
    await page.waitForURL("**/form/*");
    assert.ok((await listNames()).includes("plain.txt"));
    await close();
  });

  it("that is unknown or has expired says so to people and to programs", async () => {
    const { page, complaints, answer, close } = await open(`${app.url}/form/upg_unknown`);
    assert.equal(answer?.status(), 401);
    assert.match((await page.locator("h1").textContent()) ?? "", /This link is not valid/);
    assert.equal(await page.locator("header, main :is(a, input)").count(), 0);
    await page.keyboard.press("/");
    assert.deepEqual(
      complaints.filter((text) => !text.includes("401")),
      [],
    );
    assert.deepEqual(await findBarriers(page), []);
    await close();
    const link = await createLink({ expiresIn: 60 });
    app.clock.advance(61_000);
    const program = await fetch(link);
    assert.equal(program.status, 403);
    assert.equal(((await program.json()) as { error: { code: string } }).error.code, "FORBIDDEN");
  });
});
