export type FitMode = "scale-down" | "contain" | "cover" | "crop" | "pad";
export type VariantFormat = "auto" | "avif" | "webp" | "jpeg" | "png";

export type Gravity = "attention" | "entropy" | "focus" | "n" | "ne" | "e" | "se" | "s" | "sw" | "w" | "nw";

/** How a variant is made. Every field is optional. */
export interface TransformOptions {
  /** 1 to 4096; width, height or both are required. */
  width?: number;
  height?: number;
  fit?: FitMode;
  /** 1 to 100. Default: 85. */
  quality?: number;
  format?: VariantFormat;
  /** The part that `cover` and `crop` keep, or the side `pad` puts the image on. Default: the centre. */
  gravity?: Gravity;
  /** `rrggbb`: the colour behind transparency and of bars. */
  background?: string;
  /** 1 to 100, in pixels of the result. */
  blur?: number;
  /** Degrees clockwise, before resizing. */
  rotate?: 90 | 180 | 270;
}

export interface TransformImageBody extends TransformOptions {
  key: string;
  /** `signed` URLs expire, `public` ones do not. */
  delivery?: "signed" | "public";
}

export interface TransformedImage {
  url: string;
  expiresAt: string | null;
  delivery: "signed" | "public";
  transform: TransformOptions & { fit: FitMode; quality: number; format: VariantFormat };
  usage: { period: string; used: number; limit: number; units: number; counted: boolean };
}
