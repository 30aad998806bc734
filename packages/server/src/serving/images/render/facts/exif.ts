export interface GeoPoint {
  latitude: number;
  longitude: number;
}

/** The EXIF fields we keep. */
export interface ExifFacts {
  /** As the camera's clock showed it, with its offset where the camera knew it. */
  takenAt?: string;
  camera?: string;
  location?: GeoPoint;
}

export const cameraMaxChars = 100;
/** A directory of a real camera has a few dozen. */
const mostEntries = 512;
const mostTextBytes = 256;
const tags = {
  make: 0x010f,
  model: 0x0110,
  camera: 0x8769,
  place: 0x8825,
  takenAt: 0x9003,
  offset: 0x9011,
  northOrSouth: 1,
  latitude: 2,
  eastOrWest: 3,
  longitude: 4,
} as const;
const textType = 2;
const longType = 4;
const ratioType = 5;

interface Entry {
  type: number;
  count: number;
  /** Offset of its value, or of the pointer to it. */
  at: number;
}

/**
 * Reads the block that begins with "Exif", or the TIFF data in it. Three directories are read at most, each once, so no
 * pointer leads in circles; whatever lies outside the block does not exist.
 */
export function readExif(block: Uint8Array): ExifFacts {
  const tiff = openTiff(block);
  if (tiff === null) return {};
  const main = tiff.directory(tiff.first);
  const shot = tiff.directory(tiff.pointer(main.get(tags.camera)));
  const place = tiff.directory(tiff.pointer(main.get(tags.place)));
  const takenAt = toMoment(tiff.text(shot.get(tags.takenAt)), tiff.text(shot.get(tags.offset)));
  const camera = toCamera(tiff.text(main.get(tags.make)), tiff.text(main.get(tags.model)));
  const latitude = toDegrees(
    tiff.ratios(place.get(tags.latitude)),
    tiff.text(place.get(tags.northOrSouth)),
    90,
  );
  const longitude = toDegrees(
    tiff.ratios(place.get(tags.longitude)),
    tiff.text(place.get(tags.eastOrWest)),
    180,
  );
  return {
    ...(takenAt === null ? {} : { takenAt }),
    ...(camera === null ? {} : { camera }),
    ...(latitude === null || longitude === null ? {} : { location: { latitude, longitude } }),
  };
}

function openTiff(block: Uint8Array) {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  const start = bytes.toString("latin1", 0, 6) === "Exif\0\0" ? 6 : 0;
  const data = bytes.subarray(start);
  const order = data.toString("latin1", 0, 2);
  if (data.length < 8 || (order !== "II" && order !== "MM")) return null;
  const isLittle = order === "II";
  const short = (at: number) => (isLittle ? data.readUInt16LE(at) : data.readUInt16BE(at));
  const long = (at: number) => (isLittle ? data.readUInt32LE(at) : data.readUInt32BE(at));
  if (short(2) !== 42) return null;

  /** The offset of a value of this many bytes; null if it is outside the block. */
  function locate({ at }: Entry, lengthBytes: number): number | null {
    const found = lengthBytes <= 4 ? at : long(at);
    return found + lengthBytes <= data.length ? found : null;
  }

  return {
    first: long(4),
    directory(at: number | null): Map<number, Entry> {
      const entries = new Map<number, Entry>();
      if (at === null || at + 2 > data.length) return entries;
      const count = Math.min(short(at), mostEntries);
      for (let index = 0, entry = at + 2; index < count && entry + 12 <= data.length; index++, entry += 12)
        entries.set(short(entry), { type: short(entry + 2), count: long(entry + 4), at: entry + 8 });
      return entries;
    },
    pointer: (entry: Entry | undefined): number | null =>
      entry !== undefined && entry.type === longType && entry.count === 1 ? long(entry.at) : null,
    text(entry: Entry | undefined): string {
      if (entry === undefined || entry.type !== textType) return "";
      const lengthBytes = Math.min(entry.count, mostTextBytes);
      const at = locate(entry, lengthBytes);
      const text = at === null ? "" : data.toString("utf8", at, at + lengthBytes);
      return (text.split("\0")[0] ?? "").replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S}]+/gu, " ").trim();
    },
    ratios(entry: Entry | undefined): number[] {
      if (entry === undefined || entry.type !== ratioType || entry.count !== 3) return [];
      const at = locate(entry, 24);
      return at === null ? [] : [0, 8, 16].map((step) => long(at + step) / long(at + step + 4));
    },
  };
}

/** `2026:11:18 20:15:00`, of a day that exists. */
function toMoment(text: string, offset: string): string | null {
  const [, date, time] = /^(\d{4}:\d\d:\d\d) (\d\d:\d\d:\d\d)$/.exec(text) ?? [];
  if (date === undefined) return null;
  const local = `${date.replaceAll(":", "-")}T${time}`;
  const read = new Date(`${local}Z`);
  if (Number.isNaN(read.getTime()) || read.toISOString().slice(0, 19) !== local) return null;
  return /^[+-](0\d|1[0-4]):[0-5]\d$/.test(offset) ? local + offset : local;
}

/** Many models already begin with their maker. */
function toCamera(make: string, model: string): string | null {
  const [brand = ""] = make.toLowerCase().split(" ");
  const camera = model.toLowerCase().startsWith(brand) && model !== "" ? model : `${make} ${model}`.trim();
  return camera === "" ? null : [...camera].slice(0, cameraMaxChars).join("").trim();
}

function toDegrees(
  [degrees = Number.NaN, minutes = 0, seconds = 0]: number[],
  side: string,
  most: number,
): number | null {
  const sum = degrees + minutes / 60 + seconds / 3600;
  if (!(sum >= 0 && sum <= most) || !/^[NSEW]$/.test(side)) return null;
  // About 10 cm.
  const rounded = Math.round(sum * 1e6) / 1e6;
  return side === "S" || side === "W" ? 0 - rounded : rounded;
}
