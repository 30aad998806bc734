import { mediaType } from "../../files/uploads/rules.ts";
import { AppError } from "../../kernel/errors.ts";

const readable = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"];

/** By its declared type; what the bytes really are shows when they are rendered. */
export function isImageType(contentType: string): boolean {
  return readable.includes(mediaType(contentType));
}

export function checkIsImage(contentType: string): void {
  if (!isImageType(contentType)) throw unsupportedType();
}

export function unsupportedType(): AppError {
  return new AppError("UNSUPPORTED_TRANSFORM_TYPE", "This file is not an image that can be transformed.", {
    suggestion: "JPEG, PNG, WebP, GIF and AVIF files can.",
  });
}
