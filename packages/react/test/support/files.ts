import { crc32, deflateSync } from "node:zlib";

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

type Colour = [number, number, number];

function sunset(x: number, y: number): Colour {
  if ((x - 0.6) ** 2 * 2.25 + (y - 0.45) ** 2 < 0.03) return [255, 225, 140];
  if (y > 0.6) return [30 + ((x * 240) % 17), 80 + ((y * 160) % 9) * 4, 140];
  return [250 - y * 90, 120 + y * 80, 110 + y * 100];
}

/** Drawn once: most tests want no other. */
let drawnSunset: Buffer | undefined;

/** A picture, as heavy as wanted: what follows a PNG's end is ignored. */
export function picture(sizeBytes = 20_000, width = 240, height = 160, colour = sunset): Buffer {
  const isUsual = width === 240 && height === 160 && colour === sunset;
  const png = (isUsual && drawnSunset) || draw(width, height, colour);
  if (isUsual) drawnSunset = png;
  return Buffer.concat([png, Buffer.alloc(Math.max(0, sizeBytes - png.length))]);
}

function draw(width: number, height: number, colour: typeof sunset): Buffer {
  const rows = Array.from({ length: height }, (_, y) =>
    Buffer.from([0, ...Array.from({ length: width }, (_, x) => colour(x / width, y / height)).flat()]),
  );
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

export interface TestFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
  /** Only files that are chosen have one of their own. */
  modifiedAt?: Date;
}

export function png(name: string, sizeBytes?: number): TestFile {
  return { name, mimeType: "image/png", buffer: picture(sizeBytes) };
}

export function text(name: string, content = "hello\n"): TestFile {
  return { name, mimeType: "text/plain", buffer: Buffer.from(content) };
}
