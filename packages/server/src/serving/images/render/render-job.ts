import type { FocusPoint } from "../../../files/image-facts.ts";
import type { NegotiatedFormat, Recipe, RecipeFormat } from "../recipe.ts";
import type { ImageFacts } from "./facts/image-facts.ts";

export type OutputFormat = Exclude<RecipeFormat, "auto">;
/** `fallback` becomes PNG for a source with alpha and JPEG for any other. */
export type RequestedFormat = OutputFormat | NegotiatedFormat;

/** A worker's instructions for the accompanying image. The recipe's own format is not used. */
export interface RenderOrder extends Omit<Recipe, "format"> {
  format: RequestedFormat;
  focus?: FocusPoint;
}

/** Instructions to describe the accompanying image instead. */
export interface FactsOrder {
  facts: { keepsLocation: boolean };
}

export type WorkerOrder = RenderOrder | FactsOrder;

/** The path of a source on this machine's disk. */
export interface SourceFile {
  path: string;
  /** A file of any other size is not the source. */
  sizeBytes: number;
}

/**
 * - `unsupported`: not one of the five kinds of image that are read.
 * - `unprocessable`: one of them, but damaged, cut off or not what its header says.
 * - `too-large`: more pixels, all frames counted, than are ever decoded.
 * - `too-many-bytes`: more than are ever read.
 * - `result-too-large`: an animation that would have more pixels, all frames counted, than are ever encoded.
 */
export type RenderProblem =
  | "unsupported"
  | "unprocessable"
  | "too-large"
  | "too-many-bytes"
  | "result-too-large";

export interface RenderedImage {
  format: OutputFormat;
  /** Of one frame if the image is animated. */
  width: number;
  height: number;
}

export type RenderReply =
  | { ok: true; image: RenderedImage }
  | { ok: true; facts: ImageFacts }
  | { ok: false; problem: RenderProblem };

/** Total pixels of all frames, for the source and for the result. */
export const maxPixels = 50_000_000;
/** Larger sources are rejected unread: 50 megapixels fit, unless barely compressed. */
export const maxSourceBytes = 128 * 1024 * 1024;

/** Too many jobs of one account are waiting; other accounts are not affected. */
export class RenderQueueFull extends Error {
  override readonly name = "RenderQueueFull";
  readonly retryAfterSec: number;
  readonly isPreview: boolean;

  constructor(retryAfterSec: number, isPreview: boolean) {
    super("Too many images are waiting to be rendered.");
    this.retryAfterSec = retryAfterSec;
    this.isPreview = isPreview;
  }
}

/** No one waits for the image any more, and rendering had not started. */
export class RenderAbandoned extends Error {
  override readonly name = "RenderAbandoned";
}

/** The image took longer than the deadline; its worker was killed. */
export class RenderTimeout extends Error {
  override readonly name = "RenderTimeout";
}

/** The pool is closed, or its workers do not start. Says nothing about the image. */
export class RenderUnavailable extends Error {
  override readonly name = "RenderUnavailable";
}
