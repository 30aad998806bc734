import { craftGif, craftPng } from "../../packages/server/test/support/render/test-images.ts";
import { createPhoto } from "./photo.ts";
import { type Ask, requestVariant, storeImage } from "./stored-images.ts";
import type { Upstow } from "./upstow.ts";

/** Images that keep every renderer busy for as long as the storm lasts. */
export interface RenderStorm {
  /** Resolves once images are being rendered. */
  start(): Promise<void>;
  /** Asks for no more; what was asked for may go on. How many were rendered and refused. */
  stop(): { rendered: number; refused: number };
}

interface Source {
  key: string;
  ask: Ask;
}

const each = 16;
const startMs = 2000;

/** 16 bombs, just below and far above what is accepted, and 16 photos of 12 megapixels. */
export async function createRenderStorm(upstow: Upstow): Promise<RenderStorm> {
  const photo = await createPhoto();
  const wide = craftPng(7000, 7000, Buffer.alloc(7000 * 876), 1);
  const beyond = craftPng(16_000, 16_000, Buffer.alloc(16_000 * 2001), 1);
  const film = craftGif(2000, 2000, 12);
  const giant = { width: 4096, height: 4096, fit: "cover", format: "avif" };
  const bombs: [Buffer, string, Ask][] = [
    [wide, "image/png", giant],
    [film, "image/gif", { width: 2000, fit: "contain", format: "webp" }],
    [beyond, "image/png", giant],
    [wide, "image/png", { ...giant, format: "png" }],
  ];
  const sources: Source[] = [];
  for (let i = 0; i < each; i++) {
    const [bytes, type, ask] = bombs[i % bombs.length] ?? [photo, "image/jpeg", giant];
    sources.push({ key: await storeImage(upstow, bytes, type), ask });
    const format = ["jpeg", "webp", "avif", "png"][i % 4] ?? "webp";
    sources.push({ key: await storeImage(upstow, photo, "image/jpeg"), ask: { width: 800, format } });
  }
  const counts = { rendered: 0, refused: 0 };
  let isOver = false;

  /** Another quality is another variant, so that nothing is served from what was rendered before. */
  async function keepAsking({ key, ask }: Source): Promise<void> {
    for (let quality = 100; !isOver && quality > 0; quality--) {
      const path = await requestVariant(upstow, key, { ...ask, quality });
      const response = await fetch(`${upstow.url}${path}`);
      await response.arrayBuffer();
      if (response.status === 200) counts.rendered++;
      else counts.refused++;
    }
  }

  return {
    async start() {
      for (const source of sources) {
        keepAsking(source).catch((error: unknown) => {
          if (!isOver) throw error;
        });
      }
      await new Promise((resolve) => setTimeout(resolve, startMs));
    },
    stop() {
      isOver = true;
      return counts;
    },
  };
}
