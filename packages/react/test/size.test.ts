import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { isQuickRun } from "../../../test/support/quick-run.ts";
import { catalogue } from "../src/catalogue/index.ts";

const resolveDir = fileURLToPath(new URL("../src/", import.meta.url));

/** They share 2 KB that read ThumbHashes. */
const paintPlaceholders = ["AvatarUpload", "PrivateImage", "UpstowImage"];

/** In `npm test` those that share something, and one each that is small, lists files and is made of others. */
const examined = catalogue.filter(
  ({ name, slug }) =>
    slug !== "upload-dropzone" &&
    (!isQuickRun || [...paintPlaceholders, "ButtonMorph", "FileList", "UploadWizard"].includes(name)),
);

interface Bundle {
  gzipBytes: number;
  /** Files of this package's components in it. */
  components: string[];
}

async function bundle(names: string[]): Promise<Bundle> {
  const contents = `export { UpstowProvider, useUpload, ${names.join(", ")} } from "@upstow/react";`;
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    external: ["react", "react/jsx-runtime"],
  });
  const inputs = Object.entries(Object.values(metafile.outputs)[0]?.inputs ?? {});
  return {
    gzipBytes: gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length,
    components: inputs
      .filter(([path, { bytesInOutput }]) => path.includes("/components/") && bytesInOutput > 0)
      .map(([path]) => path.replace(/.*\//, "").replace(".tsx", ""))
      .sort(),
  };
}

describe("size", () => {
  it("core and a dropzone stay under 18 KB, the uploader included", async () => {
    const { gzipBytes } = await bundle(["UploadDropzone"]);
    assert.ok(gzipBytes < 18 * 1024, `${gzipBytes} bytes`);
  });

  it("every further component adds only itself", async () => {
    const base = await bundle(["UploadDropzone"]);
    for (const { name, slug } of examined) {
      const { gzipBytes, components } = await bundle(["UploadDropzone", name]);
      assert.deepEqual(components, [slug, "upload-dropzone"].sort(), name);
      const most = paintPlaceholders.includes(name) ? 4_000 : 3_000;
      assert.ok(gzipBytes - base.gzipBytes < most, `${name} adds ${gzipBytes - base.gzipBytes} bytes`);
    }
  });
});
