// node packages/gallery/keep-looks.ts: takes the pictures anew that test/look.slow.test.ts compares with. Look at them.
import { writeFile } from "node:fs/promises";
import { lookFolder, openGallery } from "./test/support/look.ts";

const gallery = await openGallery();
for (const [slug, bytes] of await gallery.takeLooks()) {
  await writeFile(new URL(`${slug}.webp`, lookFolder), bytes);
}
await gallery.close();
