import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { it } from "node:test";
import { compareLooks, lookFolder, takeLooks } from "./support/look.ts";

/** Another machine's fonts, a day that is spelled longer and a rounded corner stay well below. */
const tolerated = 0.1;
const kept = (slug: string) => readFile(new URL(`${slug}.webp`, lookFolder));

it("every component looks as it was kept, on a phone and a desk, light and dark", async () => {
  const changed: string[] = [];
  for (const [slug, look] of await takeLooks()) {
    const share = await compareLooks(look, await kept(slug));
    if (share > tolerated) changed.push(`${slug}: ${Math.round(share * 100)} % of it`);
  }
  // If it is meant: node packages/gallery/keep-looks.ts, and look at the pictures.
  assert.deepEqual(changed, []);
});

const lost = `.us-button { background: none !important; }
  .us-dropzone-area, .us-grid-tile { display: none !important; }`;

it("sees a lost part, but not another font", async () => {
  const slugs = ["upload-button", "upload-dropzone", "gallery-grid"];
  const plain = await takeLooks({
    slugs,
    css: lost,
  });
  const serif = await takeLooks({ slugs, css: "* { font-family: serif !important; }" });
  for (const slug of slugs) {
    assert.ok((await compareLooks(plain.get(slug) ?? Buffer.alloc(0), await kept(slug))) > tolerated, slug);
    const share = await compareLooks(serif.get(slug) ?? Buffer.alloc(0), await kept(slug));
    assert.ok(share <= tolerated, `${slug} in another font: ${share}`);
  }
});
