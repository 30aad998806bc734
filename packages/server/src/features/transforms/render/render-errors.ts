export class RenderQueueFull extends Error {
  override readonly name = "RenderQueueFull";
  readonly retryAfterSec: number;

  constructor(retryAfterSec: number) {
    super("Too many images are waiting to be rendered.");
    this.retryAfterSec = retryAfterSec;
  }
}

/** The image took longer than the deadline; its worker was killed. */
export class RenderTimeout extends Error {
  override readonly name = "RenderTimeout";
}

/** The pool is closed, or its workers do not start. Says nothing about the image. */
export class RenderUnavailable extends Error {
  override readonly name = "RenderUnavailable";
}
