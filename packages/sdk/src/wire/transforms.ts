export type FitMode = "scale-down" | "contain" | "cover" | "crop" | "pad";
export type VariantFormat = "auto" | "avif" | "webp" | "jpeg" | "png";

export interface TransformImageBody {
  key: string;
  /** 1 to 4096; width, height or both are required. */
  width?: number;
  height?: number;
  fit?: FitMode;
  /** 1 to 100. Default: 85. */
  quality?: number;
  format?: VariantFormat;
  /** `signed` URLs expire, `public` ones do not. */
  delivery?: "signed" | "public";
}

export interface TransformedImage {
  url: string;
  expiresAt: string | null;
  delivery: "signed" | "public";
  transform: { width?: number; height?: number; fit: FitMode; quality: number; format: VariantFormat };
  usage: { period: string; used: number; limit: number; units: number; counted: boolean };
}
