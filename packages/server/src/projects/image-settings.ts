import {
  IMAGE_QUALITIES,
  IMAGE_WIDTHS,
  type ProjectWithSettings,
  type UpdateProjectBody,
} from "@upstow/contract";
import type { ProjectRow } from "../db/schema.ts";
import { invalid } from "../kernel/errors.ts";

export type ImageSettingsRow = Pick<ProjectRow, "image_widths" | "image_qualities" | "image_presets">;
export type ImageSettings = Pick<ProjectWithSettings, "imageWidths" | "imageQualities" | "imagePresets">;

/** Which variants `/i/` serves of a project's public files. */
export function readImageSettings(row: ImageSettingsRow): ImageSettings {
  return {
    imageWidths: row.image_widths === null ? [...IMAGE_WIDTHS] : JSON.parse(row.image_widths),
    imageQualities: row.image_qualities === null ? [...IMAGE_QUALITIES] : JSON.parse(row.image_qualities),
    imagePresets: row.image_presets === null ? {} : JSON.parse(row.image_presets),
  };
}

/** Null where a setting stays as it is. */
export function writeImageSettings(body: UpdateProjectBody) {
  for (const [name, { width, height }] of Object.entries(body.imagePresets ?? {}))
    if (width === undefined && height === undefined)
      throw invalid(`imagePresets.${name}`, "needs a width or a height");
  const write = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  return {
    imageWidths: write(body.imageWidths),
    imageQualities: write(body.imageQualities),
    imagePresets: write(body.imagePresets),
  };
}
