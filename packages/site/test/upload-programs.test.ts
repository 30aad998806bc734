import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { build } from "esbuild";
import { browserMissing, startBrowser } from "../../server/test/support/browser.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { listBlocks, root } from "./support/doc-files.ts";

const run = promisify(execFile);
const report = "the bytes of a report";
const pageFile = { name: "Größe 1.png", mimeType: "image/png", buffer: Buffer.alloc(300_000, 7) };

/** What the browser runs for each program of a guide once a file was selected. */
const calls = {
  "tus.ts": `import { upload } from "./src/tus.ts"; onFile((file) => upload(file, grantToken));`,
  "resumable.ts": `import { uploadResumable } from "./src/resumable.ts"; onFile((file) => uploadResumable(file, grantToken));`,
  "uppy.js": `import { uppy } from "./src/uppy.js";
    uppy.on("upload-success", (_file, { body }) => console.log(body.xhr.getResponseHeader("Upstow-File-Url")));
    onFile((file) => { uppy.addFile({ name: file.name, type: file.type, data: file }); uppy.upload(); });`,
};

describe("the programs of the guides to uploads, as printed", () => {
  let app: TestApp;
  let folder: string;
  const pages = new Map<string, string>();
  const server = createServer((request, response) => {
    const isReport = request.url === "/report.pdf";
    response.setHeader("content-type", isReport ? "application/pdf" : "text/html");
    response.end(isReport ? report : pages.get(request.url ?? ""));
  });
  const urlOf = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    app = await startApp({ database: "sqlite", env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" } });
    folder = await mkdtemp(join(tmpdir(), "upstow-guides-"));
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  });
  after(async () => {
    await app.close();
    server.close();
    await rm(folder, { recursive: true });
  });

  async function save(page: string, words: string, path: string, more = ""): Promise<void> {
    const block = listBlocks(`docs/guides/${page}.md`).find(({ code }) => code.includes(words));
    assert.ok(block !== undefined, `${page} has no program with ${words}`);
    const code = block.code
      .replaceAll("http://localhost:4000", app.url)
      .replaceAll("https://example.com/report.pdf", urlOf("/report.pdf"));
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `${code}\n${more}`);
  }

  async function runInNode(path: string): Promise<string> {
    const env = { ...process.env, UPSTOW_URL: app.url, UPSTOW_API_KEY: app.owner.live };
    const { stdout } = await run(process.execPath, [path], { cwd: folder, env });
    return stdout;
  }

  async function createGrant(): Promise<string> {
    await save("upload-grants", "grants.create", "src/grant.ts");
    const [token = ""] = (await runInNode("src/grant.ts")).split(" ");
    assert.match(token, /^upg_/);
    return token;
  }

  it("create grants, and import by SDK and HTTP, in Node.js", async () => {
    await createGrant();
    await save("import-from-url", "importFromUrl(", "import.ts", "console.log(file.url);");
    const url = (await runInNode("import.ts")).trim().split("\n").at(-1) ?? "";
    assert.equal(await (await fetch(url)).text(), report);
    await save("import-from-url", "upload/import", "import.js", "console.log(response.status, file.status);");
    assert.equal(await runInNode("import.js"), "202 UPLOADING\n");
  });

  it("upload from a page under a grant", { skip: browserMissing }, async () => {
    await save("tus", "// src/tus.ts", "src/tus.ts");
    await save("resumable-uploads", "// src/resumable.ts", "src/resumable.ts");
    await save("tus", 'from "@uppy/tus"', "src/uppy.js", "export { uppy };");
    const browser = await startBrowser();
    try {
      for (const [name, call] of Object.entries(calls)) {
        const { outputFiles } = await build({
          stdin: { contents: call, resolveDir: folder, loader: "ts" },
          ...{ bundle: true, write: false, format: "iife", charset: "ascii" },
        });
        const start = `const grantToken = "${await createGrant()}"; const onFile = (use) => {
          document.querySelector("input").onchange = ({ target }) => use(target.files[0]); };`;
        const script = `${start}\n${outputFiles[0]?.text}`;
        pages.set(`/${name}`, `<input type="file"><script>${script}</script>`);
        const page = await browser.newPage();
        await page.goto(urlOf(`/${name}`));
        const said = page.waitForEvent("console");
        await page.setInputFiles("input", pageFile);
        const url = (await said).text();
        assert.ok(url.endsWith("/Gr%C3%B6%C3%9Fe%201.png"), `${name}: ${url}`);
        const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
        assert.ok(bytes.equals(pageFile.buffer), name);
        await page.close();
      }
    } finally {
      await browser.close();
    }
  });

  it("continue with tus-js-client after a reload, under a grant for one file", {
    skip: browserMissing,
  }, async () => {
    await save("tus", "// src/tus.ts", "src/tus.ts");
    const { outputFiles } = await build({
      stdin: { contents: calls["tus.ts"], resolveDir: folder, loader: "ts" },
      ...{ bundle: true, write: false, format: "iife", charset: "ascii" },
    });
    const body = { routeSlug: "default" };
    const { grant } = (await app.call("POST", "upload/grants", { key: app.owner.live, body })).body;
    const start = `const grantToken = "${grant.token}"; const onFile = (use) => {
      document.querySelector("input").onchange = ({ target }) => use(target.files[0]); };`;
    pages.set("/reload", `<input type="file"><script>${start}\n${outputFiles[0]?.text}</script>`);
    const path = join(folder, "large.bin");
    await writeFile(path, Buffer.alloc(300_000, 7));
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(urlOf("/reload"));
      await page.route("**/tus/*", (route) =>
        route.request().method() === "PATCH" ? route.abort() : route.continue(),
      );
      const created = page.waitForResponse((response) => response.status() === 201);
      await page.setInputFiles("input", path);
      await created;
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.reload();
      const said = page.waitForEvent("console");
      await page.setInputFiles("input", path);
      assert.match((await said).text(), /\/large\.bin$/);
    } finally {
      await browser.close();
    }
  });

  it("send the form of a page in another encoding", { skip: browserMissing }, async () => {
    const form = listBlocks("docs/guides/html-forms.md").find(({ language }) => language === "html");
    const action = `${app.url}/form/${await createGrant()}`;
    pages.set("/form", form?.code.replace("https://files.example.com/form/upg_…", action) ?? "");
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(urlOf("/form"));
      await page.setInputFiles("input[type=file]", pageFile);
      await page.click("button");
      await page.waitForURL(action);
      const { files } = JSON.parse(await page.innerText("body"));
      assert.deepEqual([files[0].name, files[0].metadata.order], [pageFile.name, "1234"]);
    } finally {
      await browser.close();
    }
  });
});
