import { fileURLToPath } from "node:url";

/** What the service hands out as /packages/<name>.tgz. `npm test` packs it anew where its sources have changed. */
export function packedPackage(name: "sdk" | "react" | "uppy" | "cli"): string {
  return fileURLToPath(new URL(`../../dist/packages/${name}.tgz`, import.meta.url));
}
