import type { Metric } from "prom-client";

const boundsSec = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60];

interface Series {
  labels: { method: string; route: string; status: number };
  /** How many fell below each bound and above the one before it; the last holds what took longer than any. */
  counts: number[];
  sumSec: number;
}

export interface Durations {
  metric: Metric;
  ofRoute(method: string, route: string): (status: number, durationSec: number) => void;
}

/**
 * A Prometheus histogram of every route's answers. The library's own looks each series up by its labels on every
 * observation, which costs more than the rest of a request's bookkeeping; here a route knows its series.
 */
export function createDurations(name: string, help: string): Durations {
  const all: Series[] = [];

  function createSeries(labels: Series["labels"]): Series {
    const series = { labels, counts: new Array<number>(boundsSec.length + 1).fill(0), sumSec: 0 };
    all.push(series);
    return series;
  }

  const metric = {
    name,
    async get() {
      return { name, help, type: "histogram", aggregator: "sum", values: all.flatMap(toSamples(name)) };
    },
  };

  return {
    metric: metric as unknown as Metric,
    ofRoute(method, route) {
      const ofStatus = new Map<number, Series>();
      return (status, durationSec) => {
        let series = ofStatus.get(status);
        if (series === undefined) {
          series = createSeries({ method, route, status });
          ofStatus.set(status, series);
        }
        let bucket = 0;
        while (bucket < boundsSec.length && durationSec > (boundsSec[bucket] as number)) bucket++;
        series.counts[bucket] = (series.counts[bucket] as number) + 1;
        series.sumSec += durationSec;
      };
    },
  };
}

function toSamples(name: string) {
  return ({ labels, counts, sumSec }: Series) => {
    let below = 0;
    const buckets = counts.map((count, i) => {
      below += count;
      return {
        metricName: `${name}_bucket`,
        labels: { le: boundsSec[i] ?? "+Inf", ...labels },
        value: below,
      };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sumSec },
      { metricName: `${name}_count`, labels, value: below },
    ];
  };
}
