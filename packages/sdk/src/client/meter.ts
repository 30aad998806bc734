const windowMs = 5_000;

/** Speed over the last seconds. Bytes sent twice count twice, because this measures the connection. */
export function createMeter(now: () => number = () => performance.now()) {
  let samples: { at: number; bytes: number }[] = [];
  let total = 0;

  return {
    add(bytes: number): void {
      total += Math.max(0, bytes);
      const at = now();
      // One sample per 100 ms is enough.
      const last = samples.at(-1);
      if (last !== undefined && at - last.at < 100) last.bytes = total;
      else samples.push({ at, bytes: total });
      if (samples.length > 2 * (windowMs / 100)) samples = samples.slice(-windowMs / 100);
    },
    bytesPerSec(): number {
      const at = now();
      const recent = samples.filter((sample) => at - sample.at <= windowMs);
      const [first] = recent;
      if (first === undefined || at - first.at < 100) return 0;
      return Math.round(((total - first.bytes) / (at - first.at)) * 1000);
    },
    reset(): void {
      samples = [];
    },
  };
}

export type Meter = ReturnType<typeof createMeter>;
