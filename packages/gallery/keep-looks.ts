// node packages/gallery/keep-looks.ts: takes the pictures anew that test/look.test.ts compares with. Look at them.
import { writeFile } from "node:fs/promises";
import { lookFolder, takeLooks } from "./test/support/look.ts";

for (const [slug, bytes] of await takeLooks()) await writeFile(new URL(`${slug}.webp`, lookFolder), bytes);
