export interface MinimumRate {
  bytesPerSec: number;
  windowMs: number;
}

export interface WatchedBody {
  receivedBytes: number;
  /** True while we, not the client, hold the body up. */
  heldUp: boolean;
}

const samplesPerWindow = 20;

/**
 * Cuts bodies that bring less than the minimum rate over a sliding window. There is no limit on the whole: a slow
 * but honest upload may take hours.
 */
export function createRateWatch(minimum: MinimumRate, onCut: () => void = () => {}) {
  const leastBytes = (minimum.bytesPerSec * minimum.windowMs) / 1000;
  const watched = new Map<WatchedBody, { samples: number[]; cut: () => void }>();
  let timer: NodeJS.Timeout | null = null;

  function look(): void {
    for (const [body, { samples, cut }] of watched) {
      if (body.heldUp) samples.length = 0;
      samples.push(body.receivedBytes);
      if (samples.length <= samplesPerWindow) continue;
      const before = samples.shift() ?? 0;
      if (body.receivedBytes - before >= leastBytes) continue;
      // Cutting takes a moment, and counts once.
      watched.delete(body);
      onCut();
      cut();
    }
  }

  return {
    /** Returns how to end the watch. */
    watch(body: WatchedBody, cut: () => void): () => void {
      watched.set(body, { samples: [], cut });
      timer ??= setInterval(look, minimum.windowMs / samplesPerWindow).unref();
      return () => {
        watched.delete(body);
        if (watched.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
  };
}

export type RateWatch = ReturnType<typeof createRateWatch>;
