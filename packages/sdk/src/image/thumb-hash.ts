/** A ThumbHash as a small PNG in a `data:` URL, or null if it is invalid. Runs everywhere, without an image library. */
export function thumbHashToDataUrl(thumbhash: string): `data:image/png;base64,${string}` | null {
  const hash = fromBase64(thumbhash);
  if (hash === null || hash.length < 5) return null;
  const { width, height, rgba } = decode(hash);
  return `data:image/png;base64,${btoa(String.fromCharCode(...encodePng(width, height, rgba)))}`;
}

function fromBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

const longestPx = 32;
/** Colours lose strength in four bits per term. */
const colourGain = 1.25;

interface Terms {
  mean: number;
  columns: number;
  rows: number;
  rest: number[];
}

/** The format of evanw/thumbhash: brightness, two colour differences and transparency as cosine terms. */
function decode(hash: Uint8Array) {
  const byte = (at: number) => hash[at] ?? 0;
  const head = byte(0) | (byte(1) << 8) | (byte(2) << 16);
  const more = byte(3) | (byte(4) << 8);
  const field = (value: number, shift: number, bits: number) =>
    ((value >> shift) & (2 ** bits - 1)) / (2 ** bits - 1);
  const hasAlpha = head >> 23 === 1;
  const isLandscape = more >> 15 === 1;
  const long = hasAlpha ? 5 : 7;
  const short = more & 7;
  const columns = isLandscape ? long : short;
  const rows = isLandscape ? short : long;
  let nibble = 2 * (hasAlpha ? 6 : 5);

  function readTerms(mean: number, across: number, down: number, scale: number): Terms {
    const rest: number[] = [];
    for (let row = 0; row < down; row++)
      for (let column = row === 0 ? 1 : 0; column * down < across * (down - row); column++, nibble++)
        rest.push((((byte(nibble >> 1) >> (4 * (nibble & 1))) & 15) / 7.5 - 1) * scale);
    return { mean, columns: across, rows: down, rest };
  }

  const brightness = readTerms(
    field(head, 0, 6),
    Math.max(3, columns),
    Math.max(3, rows),
    field(head, 18, 5),
  );
  const difference = (shift: number) => ((head >> shift) & 63) / 31.5 - 1;
  const yellowBlue = readTerms(difference(6), 3, 3, field(more, 3, 6) * colourGain);
  const redGreen = readTerms(difference(12), 3, 3, field(more, 9, 6) * colourGain);
  const alpha = hasAlpha ? readTerms(field(byte(5), 0, 4), 5, 5, field(byte(5), 4, 4)) : null;

  const ratio = Math.max(1, columns) / Math.max(1, rows);
  const width = Math.max(1, Math.round(ratio > 1 ? longestPx : longestPx * ratio));
  const height = Math.max(1, Math.round(ratio > 1 ? longestPx / ratio : longestPx));
  const rgba = new Uint8Array(4 * width * height);
  const [wavesAcross, wavesDown] = [listWaves(width), listWaves(height)];
  for (let at = 0; at < rgba.length; at += 4) {
    const across = wavesAcross[(at / 4) % width] ?? [];
    const down = wavesDown[Math.floor(at / 4 / width)] ?? [];
    const valueAt = (terms: Terms) => evaluate(terms, across, down);
    const [light, yellow, red] = [valueAt(brightness), valueAt(yellowBlue), valueAt(redGreen)];
    const b = light - (2 / 3) * yellow;
    const r = (3 * light - b + red) / 2;
    rgba.set([r, r - red, b, alpha === null ? 1 : valueAt(alpha)].map(toByte), at);
  }
  return { width, height, rgba };
}

const toByte = (value: number) => Math.round(255 * Math.min(1, Math.max(0, value)));

const mostTerms = 7;

/** Of each pixel of a side: how far each term is there. */
const listWaves = (sidePx: number): number[][] =>
  Array.from({ length: sidePx }, (_, at) =>
    Array.from({ length: mostTerms }, (__, term) => Math.cos((Math.PI / sidePx) * (at + 0.5) * term)),
  );

function evaluate({ mean, columns, rows, rest }: Terms, across: number[], down: number[]): number {
  let sum = mean;
  let index = 0;
  for (let row = 0; row < rows; row++)
    for (let column = row === 0 ? 1 : 0; column * rows < columns * (rows - row); column++)
      sum += (rest[index++] ?? 0) * (across[column] ?? 0) * (down[row] ?? 0) * 2;
  return sum;
}

/** Uncompressed, since it is so small. */
function encodePng(width: number, height: number, rgba: Uint8Array): number[] {
  const lines: number[] = [];
  for (let y = 0; y < height; y++) lines.push(0, ...rgba.subarray(4 * width * y, 4 * width * (y + 1)));
  const length = [lines.length & 255, lines.length >> 8];
  const stored = [
    0x78,
    1,
    1,
    ...length,
    ...length.map((value) => value ^ 255),
    ...lines,
    ...toBytes(adler32(lines)),
  ];
  return [
    ...[137, 80, 78, 71, 13, 10, 26, 10],
    ...chunk("IHDR", [...toBytes(width), ...toBytes(height), 8, 6, 0, 0, 0]),
    ...chunk("IDAT", stored),
    ...chunk("IEND", []),
  ];
}

function chunk(type: string, data: number[]): number[] {
  const named = [...[...type].map((letter) => letter.charCodeAt(0)), ...data];
  return [...toBytes(data.length), ...named, ...toBytes(crc32(named))];
}

const toBytes = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);

function crc32(bytes: number[]): number {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum;
}

function adler32(bytes: number[]): number {
  let low = 1;
  let high = 0;
  for (const byte of bytes) {
    low = (low + byte) % 65_521;
    high = (high + low) % 65_521;
  }
  return (high << 16) | low;
}
