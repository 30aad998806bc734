/** A small image: straight RGBA, at most 100 pixels on each side. */
export interface SmallImage {
  width: number;
  height: number;
  rgba: Uint8Array;
}

/** One channel as a few cosine terms: its mean, and the others relative to the strongest. */
interface Terms {
  mean: number;
  rest: number[];
  scale: number;
}

/**
 * A placeholder of about 25 bytes in the format of evanw/thumbhash, equal to the reference's byte for byte: brightness,
 * two colour differences and transparency, each as the lowest terms of a cosine transform, in 4 bits per term.
 */
export function createThumbHash({ width, height, rgba }: SmallImage): Uint8Array {
  const channels = split(rgba, width * height);
  const { hasAlpha } = channels;
  const longest = Math.max(width, height);
  const detail = hasAlpha ? 5 : 7;
  const columns = Math.max(1, Math.round((detail * width) / longest));
  const rows = Math.max(1, Math.round((detail * height) / longest));
  const transform = createTransform(width, height);
  const brightness = transform(channels.brightness, Math.max(3, columns), Math.max(3, rows));
  const yellowBlue = transform(channels.yellowBlue, 3, 3);
  const redGreen = transform(channels.redGreen, 3, 3);
  const alpha = hasAlpha ? transform(channels.alpha, 5, 5) : null;
  const isLandscape = width > height;
  const head = [
    ...toBytes(
      Math.round(63 * brightness.mean) |
        (Math.round(31.5 + 31.5 * yellowBlue.mean) << 6) |
        (Math.round(31.5 + 31.5 * redGreen.mean) << 12) |
        (Math.round(31 * brightness.scale) << 18) |
        (Number(hasAlpha) << 23),
      3,
    ),
    ...toBytes(
      (isLandscape ? rows : columns) |
        (Math.round(63 * yellowBlue.scale) << 3) |
        (Math.round(63 * redGreen.scale) << 9) |
        (Number(isLandscape) << 15),
      2,
    ),
    ...(alpha === null ? [] : [Math.round(15 * alpha.mean) | (Math.round(15 * alpha.scale) << 4)]),
  ];
  const terms = [brightness, yellowBlue, redGreen, ...(alpha === null ? [] : [alpha])];
  return Uint8Array.from([...head, ...toNibbles(terms.flatMap(({ rest }) => rest))]);
}

const toBytes = (value: number, count: number) =>
  Array.from({ length: count }, (_, index) => (value >> (8 * index)) & 255);

/** Two terms a byte, the first in its lower half. */
function toNibbles(terms: number[]): number[] {
  const bytes: number[] = [];
  for (let at = 0; at < terms.length; at += 2)
    bytes.push(Math.round(15 * (terms[at] ?? 0)) | (Math.round(15 * (terms[at + 1] ?? 0)) << 4));
  return bytes;
}

/** Transparent pixels are laid on the average colour, so that they add no edges. */
function split(rgba: Uint8Array, pixels: number) {
  const byte = (at: number) => rgba[at] ?? 0;
  const mean = [0, 0, 0];
  let opacity = 0;
  for (let at = 0; at < 4 * pixels; at += 4) {
    const alpha = byte(at + 3) / 255;
    for (let colour = 0; colour < 3; colour++)
      mean[colour] = (mean[colour] ?? 0) + (alpha / 255) * byte(at + colour);
    opacity += alpha;
  }
  const [red = 0, green = 0, blue = 0] = opacity > 0 ? mean.map((sum) => sum / opacity) : mean;
  const channels = {
    brightness: new Float64Array(pixels),
    yellowBlue: new Float64Array(pixels),
    redGreen: new Float64Array(pixels),
    alpha: new Float64Array(pixels),
    hasAlpha: opacity < pixels,
  };
  for (let pixel = 0; pixel < pixels; pixel++) {
    const at = 4 * pixel;
    const alpha = byte(at + 3) / 255;
    const r = red * (1 - alpha) + (alpha / 255) * byte(at);
    const g = green * (1 - alpha) + (alpha / 255) * byte(at + 1);
    const b = blue * (1 - alpha) + (alpha / 255) * byte(at + 2);
    channels.brightness[pixel] = (r + g + b) / 3;
    channels.yellowBlue[pixel] = (r + g) / 2 - b;
    channels.redGreen[pixel] = r - g;
    channels.alpha[pixel] = alpha;
  }
  return channels;
}

/** Terms in a triangle: the finer they are one way, the fewer the other way. */
function createTransform(width: number, height: number) {
  const waves = (length: number) =>
    Array.from({ length: 7 }, (_, term) =>
      Float64Array.from({ length }, (__, at) => Math.cos((Math.PI / length) * term * (at + 0.5))),
    );
  const across = waves(width);
  const down = waves(height);

  function measure(channel: Float64Array, column: number, row: number): number {
    const [waveAcross = new Float64Array(), waveDown = new Float64Array()] = [across[column], down[row]];
    let sum = 0;
    for (let y = 0, at = 0; y < height; y++) {
      const weight = waveDown[y] ?? 0;
      for (let x = 0; x < width; x++, at++) sum += (channel[at] ?? 0) * (waveAcross[x] ?? 0) * weight;
    }
    return sum / (width * height);
  }

  return (channel: Float64Array, columns: number, rows: number): Terms => {
    const mean = measure(channel, 0, 0);
    const found: number[] = [];
    for (let row = 0; row < rows; row++)
      for (let column = row === 0 ? 1 : 0; column * rows < columns * (rows - row); column++)
        found.push(measure(channel, column, row));
    const scale = found.reduce((most, term) => Math.max(most, Math.abs(term)), 0);
    const rest = scale > 0 ? found.map((term) => 0.5 + (0.5 / scale) * term) : found;
    return { mean, rest, scale };
  };
}
