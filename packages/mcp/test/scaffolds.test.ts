import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { storageSet } from "../../cli/src/commands/storage-set.ts";
import { parseCommandLine } from "../../cli/src/parse-command-line.ts";
import { readConfig } from "../../server/src/config.ts";
import { uploadCorsRule } from "../../server/src/storage/s3/cors.ts";
import { compileSources } from "../../site/test/support/compile-blocks.ts";
import {
  getByosConfig,
  INIT_FRAMEWORKS,
  PACKAGE_MANAGERS,
  PACKAGES,
  renderInstallCommand,
  renderProvider,
  renderReadHandler,
  renderRouteHandler,
  renderViteServer,
  STORAGE_PROVIDERS,
} from "../src/scaffolds/index.ts";

/** As a shell and the program would read it; throws if an option does not exist or is missing. */
function readStorageCommand(text: string) {
  const words = [...text.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const start = words.indexOf("storage");
  assert.deepEqual(words.slice(0, start + 2), ["npm", "run", "--silent", "upstow", "--", "storage", "set"]);
  return parseCommandLine(storageSet, words.slice(start + 2)).options;
}

describe("what the scaffolding tools print", () => {
  it("compiles for every framework, with plain and with awkward options", async () => {
    const options = [
      { routeName: "image", maxFileSize: "4MB", allowedTypes: ["image/*"] },
      { routeName: "3d-models", maxFileSize: "1.5GB", allowedTypes: ["*/*"] },
      { routeName: "anything", maxFileSize: 4_194_304, allowedTypes: [] },
      { routeName: "default", maxFileSize: "0B", allowedTypes: ["pdf", "text/plain"] },
      { routeName: "invoices", maxFileSize: "4MB", allowedTypes: ["pdf"], access: "private" as const },
    ];
    const sources = new Map<string, string>();
    for (const framework of INIT_FRAMEWORKS) {
      options.forEach((option, i) => {
        const { path, code } = renderRouteHandler({ framework, ...option });
        sources.set(`${framework}-${i}/${path}`, code);
        assert.ok(!code.includes("allowedTypes: []"), "that would refuse every file");
        assert.equal(code.includes('access: "private"'), "access" in option);
      });
      const read = renderReadHandler(framework);
      sources.set(`${framework}-0/${read.path}`, read.code);
    }
    const route = renderRouteHandler({
      framework: "next",
      routeName: "image",
      maxFileSize: "4MB",
      allowedTypes: ["image"],
    });
    for (const { path, code } of [renderProvider(), route]) sources.set(path, code);
    const page = (name: string) =>
      `import { UploadButton } from "@upstow/react";\nexport default () => <UploadButton route="${name}" />;\n`;
    sources.set("app/page.tsx", page("image"));
    sources.set("app/typo.tsx", page("imgae").replace("export", "// @ts-expect-error no such route\nexport"));
    assert.equal(await compileSources(sources), "");
  });

  it("types the pages of a Vite project by the router of its server", async () => {
    const options = { routeName: "image", maxFileSize: "4MB", allowedTypes: ["image"] };
    const { router, server } = renderViteServer(options, 3000);
    const page = (name: string) => `import { UploadButton } from "@upstow/react";
export const button = <UploadButton route="${name}" onUploaded={({ file }) => file.result.uploadedBy} />;\n`;
    const sources = new Map([
      [router.path, router.code],
      [server.path, server.code],
      ["src/upload-provider.tsx", renderProvider("../upload-router.js").code],
      ["src/page.tsx", page("image")],
      ["src/typo.tsx", page("imgae").replace("export", "// @ts-expect-error no such route\nexport")],
    ]);
    assert.equal(await compileSources(sources), "");
  });

  it("gives an install command for every package manager, of packages that exist", () => {
    const at = "https://files.example.com";
    assert.deepEqual(
      PACKAGE_MANAGERS.map((manager) => renderInstallCommand(at, manager, ["@upstow/uppy", "@upstow/uppy"])),
      [
        `npm install ${at}/packages/sdk.tgz ${at}/packages/uppy.tgz`,
        `pnpm add ${at}/packages/sdk.tgz ${at}/packages/uppy.tgz`,
        `yarn add @upstow/sdk@${at}/packages/sdk.tgz @upstow/uppy@${at}/packages/uppy.tgz`,
        `bun add ${at}/packages/sdk.tgz ${at}/packages/uppy.tgz`,
      ],
    );
    for (const name of PACKAGES) {
      const manifest = join(import.meta.dirname, "../..", name.replace("@upstow/", ""), "package.json");
      assert.ok(existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === name, name);
    }
  });

  for (const provider of STORAGE_PROVIDERS) {
    it(`configures ${provider} with variables that the service takes, and the CORS rule that it sets itself`, () => {
      const { env, cors, project } = getByosConfig(provider);
      const filled = Object.entries(env).map(([name, value]) => [
        name,
        value.replaceAll(/<[^>]+>/g, "filled"),
      ]);
      const { s3, unknownVariables } = readConfig(Object.fromEntries(filled));
      assert.deepEqual(unknownVariables, []);
      assert.equal(s3?.bucket, "filled");
      assert.equal(s3?.forcePathStyle, provider !== "s3");
      assert.equal(s3?.endpoint === null, provider === "s3");
      const ofProject = readStorageCommand(project.command);
      assert.equal(ofProject.get("bucket"), "<bucket>");
      assert.equal(
        ofProject.find("endpoint"),
        "UPSTOW_S3_ENDPOINT" in env ? env.UPSTOW_S3_ENDPOINT : undefined,
      );
      assert.equal(ofProject.get("region"), env.UPSTOW_S3_REGION);
      assert.equal(ofProject.has("path-style"), provider !== "s3");
      assert.match(project.dashboard, /Settings > Storage/);
      const [rule] = cors;
      const { allowedOrigins, allowedMethods, allowedHeaders, exposeHeaders, maxAgeSec } = uploadCorsRule;
      if (rule !== undefined && "origin" in rule) {
        assert.deepEqual(rule.responseHeader, [...allowedHeaders, ...exposeHeaders]);
        assert.deepEqual(
          [rule.origin, rule.method, rule.maxAgeSeconds],
          [allowedOrigins, allowedMethods, maxAgeSec],
        );
      } else {
        assert.deepEqual(rule, {
          AllowedOrigins: allowedOrigins,
          AllowedMethods: allowedMethods,
          AllowedHeaders: allowedHeaders,
          ExposeHeaders: exposeHeaders,
          MaxAgeSeconds: maxAgeSec,
        });
      }
    });
  }
});
