import { FIT_MODES, type VARIANT_DELIVERIES } from "@upstow/contract";

/** AVIF, WebP, JPEG and PNG are what variants are made of; `auto` chooses among them for each reader. */
export const outputFormats = ["avif", "webp", "jpeg", "png"] as const;
export type OutputFormat = (typeof outputFormats)[number];

export interface Knobs {
  /** Pixels, or nothing for a side that follows. */
  width: string;
  height: string;
  fit: (typeof FIT_MODES)[number];
  quality: number;
  format: OutputFormat | "auto";
  delivery: (typeof VARIANT_DELIVERIES)[number];
}

export function readKnobs(query: URLSearchParams): Knobs {
  const height = query.get("height") ?? "";
  return {
    width: query.get("width") ?? (height === "" ? "800" : ""),
    height,
    fit: FIT_MODES.find((fit) => fit === query.get("fit")) ?? "scale-down",
    quality: Number(query.get("quality") ?? 85),
    format: outputFormats.find((format) => format === query.get("format")) ?? "auto",
    delivery: "signed",
  };
}

/** The body of the call that makes the URL. */
export function toBody(key: string, { width, height, ...rest }: Knobs) {
  return {
    key,
    ...(width === "" ? {} : { width: Number(width) }),
    ...(height === "" ? {} : { height: Number(height) }),
    ...rest,
  };
}

/** What the studio is asked for; empty where no side is given, or one that no variant can have. */
export function toStudioQuery(key: string, { width, height, fit, quality }: Knobs): string {
  const sides = Object.entries({ width, height }).filter(([, side]) => side !== "");
  const isPossible = sides.every(
    ([, side]) => /^\d+$/.test(side) && Number(side) >= 1 && Number(side) <= 4096,
  );
  if (sides.length === 0 || !isPossible) return "";
  return new URLSearchParams([["key", key], ...sides, ["fit", fit], ["quality", String(quality)]]).toString();
}
