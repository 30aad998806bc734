import { cameraMaxChars, type ExifFacts } from "./exif.ts";

/** Facts about an image. */
export interface ImageFacts extends ExifFacts {
  /** As it is seen upright. */
  width: number;
  height: number;
  /** As in EXIF, 1 to 8. */
  orientation: number;
  frames: number;
  hasAlpha: boolean;
  /** `#rrggbb` */
  dominantColor: string;
  /** Base64. */
  thumbhash: string;
  /** Of a video, in seconds. Workers never say so. */
  duration?: number;
}

const isWhole = (value: unknown, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most;
const isText = (value: unknown, form: RegExp): value is string =>
  typeof value === "string" && form.test(value);
const isWithin = (value: unknown, most: number): value is number =>
  typeof value === "number" && Math.abs(value) <= most;

const mostPx = 2 ** 31;
const cameraForm = new RegExp(`^[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S} ]{1,${cameraMaxChars}}$`, "u");

/** Null for anything but facts: what a compromised worker says must not get further. */
export function readFacts(value: Record<string, unknown>): ImageFacts | null {
  const { width, height, orientation, frames, hasAlpha, dominantColor, thumbhash } = value;
  if (!isWhole(width, mostPx) || !isWhole(height, mostPx) || !isWhole(orientation, 8)) return null;
  if (!isWhole(frames, mostPx) || typeof hasAlpha !== "boolean") return null;
  if (!isText(dominantColor, /^#[0-9a-f]{6}$/) || !isText(thumbhash, /^[0-9A-Za-z+/]{4,60}={0,2}$/))
    return null;
  const shot = readShot(value);
  if (shot === null) return null;
  return { width, height, orientation, frames, hasAlpha, dominantColor, thumbhash, ...shot };
}

function readShot({ takenAt, camera, location }: Record<string, unknown>): ExifFacts | null {
  const { latitude, longitude } = (location ?? {}) as Record<string, unknown>;
  const isSound =
    (takenAt === undefined || isText(takenAt, /^[\d-]{10}T[\d:]{8}([+-]\d\d:\d\d)?$/)) &&
    (camera === undefined || isText(camera, cameraForm)) &&
    (location === undefined || (isWithin(latitude, 90) && isWithin(longitude, 180)));
  if (!isSound) return null;
  return {
    ...(takenAt === undefined ? {} : { takenAt: takenAt as string }),
    ...(camera === undefined ? {} : { camera: camera as string }),
    ...(location === undefined
      ? {}
      : { location: { latitude: latitude as number, longitude: longitude as number } }),
  };
}
