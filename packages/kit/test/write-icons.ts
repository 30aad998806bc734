// Writes src/icons.ts from lucide's package. Names on the command line are added to those already there:
//   npx node packages/kit/test/write-icons.ts upload trash-2
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { drawIcons, listIcons } from "./support/lucide.ts";

const path = fileURLToPath(new URL("../src/icons.ts", import.meta.url));
const known = listIcons(readFileSync(path, "utf8"));
writeFileSync(path, drawIcons([...known, ...process.argv.slice(2)]));
