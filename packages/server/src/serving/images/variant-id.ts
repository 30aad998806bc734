import { hash } from "node:crypto";
import type { Recipe } from "./recipe.ts";
import type { RequestedFormat } from "./render/render-job.ts";

/** Names one rendered image: the file, the options that shape it, and the format that was settled on. */
export function variantId(fileId: string, recipe: Recipe, format: RequestedFormat): string {
  const { width, height, fit, quality } = recipe;
  return hash("sha256", [fileId, width ?? "", height ?? "", fit, quality, format].join("\n"));
}

/**
 * Beside the file in the store; a file's own name holds no slash, so nothing else can have this key. Every render
 * has a key of its own, so that removing an old one late can never hit a new one.
 */
export function variantStoreKey(fileKey: string, id: string, claim: string): string {
  return `${fileKey.slice(0, fileKey.lastIndexOf("/"))}/variants/${id}-${claim}`;
}
