import assert from "node:assert/strict";
import { test } from "node:test";
import { createCorpus, mutateImage } from "../../../../test/support/render/mutate-image.ts";
import { createRandom } from "../../../../test/support/render/test-images.ts";
import { renderImage } from "../render/render-image.ts";
import { findSourceKind } from "../render/sniff-image.ts";
import { examineHeader } from "./examine-header.ts";

const rounds = 2_000;

test("what a header is refused for, no decoder reads", async () => {
  const corpus = await createCorpus();
  const random = createRandom(2026);
  const counts = { fine: 0, unsupported: 0, "too-large": 0 };
  for (let round = 0; round < rounds; round++) {
    const bytes = mutateImage(corpus, random);
    const verdict = await examineHeader(
      async (start, length) => bytes.subarray(start, start + length),
      bytes.length,
    );
    counts[verdict]++;
    const kind = findSourceKind(bytes);
    // By its signature the renderers refuse it themselves. Of a GIF, the decoder takes no notice of a screen of more than
    // 2048 pixels and goes by the frames; for us the header counts.
    if (verdict === "fine" || kind === null || (kind === "gif" && verdict === "too-large")) continue;
    const rendered = await renderImage(bytes, { width: 8, fit: "cover", quality: 50, format: "jpeg" });
    assert.ok(!rendered.ok, `${verdict}: ${bytes.subarray(0, 600).toString("base64")}`);
  }
  assert.ok(counts.fine > 100 && counts.unsupported > 100 && counts["too-large"] > 5, JSON.stringify(counts));
});
