import {
  createRenderPool,
  type RenderPool,
  type RenderPoolOptions,
} from "../../../src/serving/images/render/render-pool.ts";

/** One worker that gives way to nobody, within limits that no honest image reaches on a machine that has much else to do. */
export function openTestPool(options: Partial<RenderPoolOptions> = {}): RenderPool {
  return createRenderPool({
    size: 1,
    waitingPerAccount: 10,
    waitingInAll: 100,
    previewsPerAccount: { running: 2, waiting: 10 },
    deadlineMs: 60_000,
    patienceMs: 0,
    giveUpMs: 90_000,
    maxRssBytes: 1024 ** 3,
    maxJobs: 1000,
    ...options,
  });
}
