//   node build.mjs [folder]     writes there instead of to dist
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { buildPackage, compile } from "../../scripts/build-package.mjs";

const root = import.meta.dirname;

buildPackage(root, {
  /** One file with the service's own code in it, since the package needs no other. */
  alsoWrite(output) {
    buildSync({
      entryPoints: [join(root, "src/strip-metadata.ts")],
      outfile: join(output, "strip-metadata.js"),
      bundle: true,
      format: "esm",
      target: "es2022",
    });
    const types = mkdtempSync(join(tmpdir(), "upstow-sdk-types-"));
    compile(join(root, "tsconfig.strip-metadata.json"), types);
    cpSync(join(types, "sdk/src/strip-metadata.d.ts"), join(output, "strip-metadata.d.ts"));
    rmSync(types, { recursive: true });
  },
});
