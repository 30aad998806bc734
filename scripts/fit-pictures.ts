// node scripts/fit-pictures.ts: lets the service make the pictures of the fit modes for docs/guides/images.md anew.
import { writeFile } from "node:fs/promises";
import { makeFitPictures } from "../packages/server/test/support/fit-pictures.ts";

const folder = new URL("../docs/images/", import.meta.url);
for (const [name, bytes] of await makeFitPictures()) {
  await writeFile(new URL(name, folder), bytes);
  console.log(`docs/images/${name} ${bytes.length} bytes`);
}
