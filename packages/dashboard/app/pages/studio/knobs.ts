import { FIT_MODES, GRAVITIES, ROTATIONS, type VARIANT_DELIVERIES } from "@upstow/contract";

/** Variant formats; `auto` picks one of them for each client. */
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
  /** Nothing for the centre. */
  gravity: (typeof GRAVITIES)[number] | "";
  /** `rrggbb` */
  background: string;
  blur: string;
  rotate: `${(typeof ROTATIONS)[number]}` | "";
}

export const turns = ROTATIONS.map((degrees) => `${degrees}` as const);

export function readKnobs(query: URLSearchParams): Knobs {
  const height = query.get("height") ?? "";
  return {
    width: query.get("width") ?? (height === "" ? "800" : ""),
    height,
    fit: FIT_MODES.find((fit) => fit === query.get("fit")) ?? "scale-down",
    quality: Number(query.get("quality") ?? 85),
    format: outputFormats.find((format) => format === query.get("format")) ?? "auto",
    delivery: "signed",
    gravity: GRAVITIES.find((gravity) => gravity === query.get("gravity")) ?? "",
    background: query.get("background") ?? "",
    blur: query.get("blur") ?? "",
    rotate: turns.find((degrees) => degrees === query.get("rotate")) ?? "",
  };
}

/** The body of the call that makes the URL. */
export function toBody(key: string, { width, height, fit, quality, format, delivery, ...rest }: Knobs) {
  return {
    key,
    ...(width === "" ? {} : { width: Number(width) }),
    ...(height === "" ? {} : { height: Number(height) }),
    fit,
    quality,
    format,
    delivery,
    ...readExtras(rest),
  };
}

/** Those that are set, and that the service would take. */
function readExtras({
  gravity,
  background,
  blur,
  rotate,
}: Pick<Knobs, "gravity" | "background" | "blur" | "rotate">) {
  const turn = ROTATIONS.find((degrees) => `${degrees}` === rotate);
  const isBlur = /^\d+$/.test(blur) && Number(blur) >= 1 && Number(blur) <= 100;
  return {
    ...(gravity === "" ? {} : { gravity }),
    ...(/^[0-9a-f]{6}$/i.test(background) ? { background: background.toLowerCase() } : {}),
    ...(isBlur ? { blur: Number(blur) } : {}),
    ...(turn === undefined ? {} : { rotate: turn }),
  };
}

/** The request's options; empty if no side is given, or an invalid one. */
export function toStudioQuery(key: string, { width, height, fit, quality, ...rest }: Knobs): string {
  const sides = Object.entries({ width, height }).filter(([, side]) => side !== "");
  const isPossible = sides.every(
    ([, side]) => /^\d+$/.test(side) && Number(side) >= 1 && Number(side) <= 4096,
  );
  if (sides.length === 0 || !isPossible) return "";
  const extras = Object.entries(readExtras(rest)).map(([name, value]) => [name, String(value)]);
  const all = [["key", key], ...sides, ["fit", fit], ["quality", String(quality)], ...extras];
  return new URLSearchParams(all).toString();
}
