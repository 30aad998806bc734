import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { compareLooks, lookFolder, type OpenGallery, openGallery } from "./support/look.ts";

/** Another machine's fonts, a day that is spelled longer and a rounded corner stay well below. */
const tolerated = 0.1;
const kept = (slug: string) => readFile(new URL(`${slug}.webp`, lookFolder));

const lost = `.us-button { background: none !important; }
  .us-dropzone-area, .us-grid-tile { display: none !important; }`;

describe("the looks of components", () => {
  let gallery: OpenGallery;
  before(async () => {
    gallery = await openGallery();
  });
  after(() => gallery?.close());

  it("are as they were kept, on a phone and a desk, light and dark", async () => {
    const changed: string[] = [];
    for (const [slug, look] of await gallery.takeLooks()) {
      const share = await compareLooks(look, await kept(slug));
      if (share > tolerated) changed.push(`${slug}: ${Math.round(share * 100)} % of it`);
    }
    // If it is meant: node packages/gallery/keep-looks.ts, and look at the pictures.
    assert.deepEqual(changed, []);
  });

  it("are compared so that a lost part is seen, but not another font", async () => {
    const slugs = ["upload-button", "upload-dropzone", "gallery-grid"];
    const plain = await gallery.takeLooks({ slugs, css: lost });
    const serif = await gallery.takeLooks({ slugs, css: "* { font-family: serif !important; }" });
    for (const slug of slugs) {
      const lostShare = await compareLooks(plain.get(slug) ?? Buffer.alloc(0), await kept(slug));
      assert.ok(lostShare > tolerated, `${slug} without a part: ${lostShare}`);
      const share = await compareLooks(serif.get(slug) ?? Buffer.alloc(0), await kept(slug));
      assert.ok(share <= tolerated, `${slug} in another font: ${share}`);
    }
  });
});
