/** Which square of a picture is shown: zoom of at least 1, position from -1 (start) to 1 (end) on each axis. */
export interface Crop {
  zoom: number;
  x: number;
  y: number;
}

const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value));

export function clampCrop({ zoom, x, y }: Crop): Crop {
  return { zoom: clamp(zoom, 1, 5), x: clamp(x, -1, 1), y: clamp(y, -1, 1) };
}

/** Moves the picture under the frame by a fraction of the frame's width. */
export function panCrop(crop: Crop, image: ImageBitmap, dx: number, dy: number): Crop {
  const side = Math.min(image.width, image.height) / crop.zoom;
  const shift = (delta: number, length: number) => (length > side ? (delta * side * 2) / (length - side) : 0);
  return clampCrop({ ...crop, x: crop.x - shift(dx, image.width), y: crop.y - shift(dy, image.height) });
}

export function drawCrop(canvas: HTMLCanvasElement, image: ImageBitmap, crop: Crop): void {
  const side = Math.min(image.width, image.height) / crop.zoom;
  const left = ((image.width - side) * (crop.x + 1)) / 2;
  const top = ((image.height - side) * (crop.y + 1)) / 2;
  const pen = canvas.getContext("2d");
  pen?.clearRect(0, 0, canvas.width, canvas.height);
  pen?.drawImage(image, left, top, side, side, 0, 0, canvas.width, canvas.height);
}

const writable = ["image/png", "image/jpeg", "image/webp"];

/** The square as a file, in its original type if browsers can encode it, otherwise as PNG. */
export async function cropToFile(file: File, image: ImageBitmap, crop: Crop, sizePx: number): Promise<File> {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = sizePx;
  drawCrop(canvas, image, crop);
  const type = writable.includes(file.type) ? file.type : "image/png";
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, 0.92));
  if (blob === null) throw new Error("The image cannot be drawn.");
  const name = type === file.type ? file.name : file.name.replace(/\.[^.]*$|$/, ".png");
  return new File([blob], name, { type: blob.type });
}
