/** Too many jobs of one account are waiting; those of others are not touched. */
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

/** Nobody waits for the image any more, and it had not been begun. */
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
