/** What every renderer is asked for: 800 pixels wide, encoded alike. */
export const imageWidth = 800;

export interface ImageFormat {
  name: "jpeg" | "webp" | "avif" | "png";
  /** As Upstow hands it to the encoder for its quality of 85; PNG has none. */
  quality: number | null;
  /** How many are made in a round; fewer where one takes long. */
  count: number;
}

export const imageFormats: readonly ImageFormat[] = [
  { name: "jpeg", quality: 85, count: 8 },
  { name: "webp", quality: 85, count: 8 },
  { name: "avif", quality: 68, count: 3 },
  { name: "png", quality: null, count: 8 },
];
