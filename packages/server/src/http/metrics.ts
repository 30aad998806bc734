import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIP, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from "prom-client";
import type { Config } from "../config.ts";
import { unauthorized } from "../kernel/errors.ts";
import { isLoopbackAddress, isLoopbackHost } from "../kernel/net/listen-address.ts";
import { unknownPath } from "./error-handler.ts";
import { addRouteHook } from "./request-context.ts";
import { isForwarded } from "./require-https.ts";

let processMetrics: Metric[] | undefined;

/**
 * Collected once, however many services this process starts: each collection has a timer and an observer of garbage
 * collections, which the library never stops.
 */
function collectProcessMetrics(): Metric[] {
  if (processMetrics !== undefined) return processMetrics;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "upstow_" });
  processMetrics = registry.getMetricsAsArray() as unknown as Metric[];
  return processMetrics;
}

export function createMetrics(droppedLogLines = () => 0): Registry {
  const registry = new Registry();
  for (const metric of collectProcessMetrics()) registry.registerMetric(metric);
  new Counter({
    name: "upstow_log_dropped_lines_total",
    help: "Log lines lost because the disk was full or nobody read the pipe.",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(droppedLogLines());
    },
  });
  return registry;
}

/** Scrapers give up after ten seconds and then see nothing at all. */
const patienceMs = 1_000;

/** A gauge of `exposeForAll` that shows part of a measurement. */
interface SharedGauge<T> {
  name: string;
  help: string;
  labelNames?: string[];
  show(gauge: Gauge, measured: T): void;
}

/**
 * Gauges of the whole installation, reported only by the instance that speaks for all. On the others, and while the
 * database does not respond within a second, they are missing, and all other metrics are still there. Gauges collected
 * at the same moment share one measurement.
 */
export function exposeForAll<T>(
  registry: Registry,
  isSpeaker: () => Promise<boolean>,
  measure: () => Promise<T | null>,
  gauges: SharedGauge<T>[],
): void {
  const measureOnce = shareMeasurement(isSpeaker, measure);
  for (const { name, help, labelNames, show } of gauges)
    new Gauge({
      name,
      help,
      registers: [registry],
      ...(labelNames && { labelNames }),
      async collect() {
        const measured = await measureOnce();
        if (measured !== null) show(this, measured);
        else if (labelNames === undefined) this.remove();
        else this.reset();
      },
    });
}

function shareMeasurement<T>(
  isSpeaker: () => Promise<boolean>,
  measure: () => Promise<T | null>,
): () => Promise<T | null> {
  let running: Promise<T | null> | null = null;
  async function start(): Promise<T | null> {
    try {
      return (await isSpeaker()) ? await measure() : null;
    } catch {
      return null;
    } finally {
      running = null;
    }
  }
  return () => {
    running ??= start();
    return Promise.race([running, wait(patienceMs, null, { ref: false })]);
  };
}

type MetricsAccess = Pick<Config, "metricsToken" | "trustedProxies" | "publicUrl">;

/** Prometheus text at /metrics, for callers on this machine or with the operator's token. */
export function exposeMetrics(
  app: FastifyInstance,
  registry: Registry,
  { metricsToken: token, trustedProxies, publicUrl }: MetricsAccess,
  isCustomDomain: (host: string) => Promise<boolean>,
): void {
  const publicHost = new URL(publicUrl).hostname;
  const durations = createDurations(
    "upstow_http_request_duration_seconds",
    "Time from a request's first byte to the last byte of its response.",
  );
  registry.registerMetric(durations.metric);
  app.addHook("onRoute", (route) => {
    const observe = durations.ofRoute(String(route.method), route.url);
    addRouteHook(route, "onResponse", (_request, reply, done) => {
      observe(reply.statusCode, reply.elapsedTime / 1000);
      done();
    });
  });

  const observeUnknown = durations.ofRoute("any", "unknown");
  app.addHook("onResponse", (request, reply, done) => {
    if (request.is404) observeUnknown(reply.statusCode, reply.elapsedTime / 1000);
    done();
  });

  // "always" because only the database knows the custom domains, and it may be down: the token must do without.
  const config = { isProbe: true, customDomain: "always" } as const;
  app.get("/metrics", { config, schema: { hide: true } }, async (request, reply) => {
    if (!hasToken(request.headers, token)) {
      if (!isOwnHost(request.hostname) && (await isCustomDomain(request.host))) throw unknownPath();
      if (!isLocal(request)) throw unauthorized();
    }
    return reply.type(registry.contentType).send(await registry.metrics());
  });

  /** Custom domains are always names. */
  function isOwnHost(host: string): boolean {
    return isLoopbackHost(host) || isIP(host.replace(/^\[(.*)\]$/, "$1")) !== 0 || host === publicHost;
  }

  /**
   * A proxy on this machine shares our address. If it reports no client, the client may be anyone. One that calls us over
   * TLS may pass on nothing but the name that its client asked for.
   */
  function isLocal({ socket, headers, hostname }: FastifyRequest): boolean {
    const peer = socket.remoteAddress ?? "";
    return (
      isLoopbackAddress(peer) &&
      isLoopbackHost(hostname) &&
      !trustedProxies.contains(peer) &&
      !isForwarded(headers)
    );
  }
}

export function hasToken(headers: IncomingHttpHeaders, token: string | null): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const given = headers.authorization ?? "";
  return token !== null && timingSafeEqual(digest(given), digest(`Bearer ${token}`));
}

const boundsSec = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 10, 30, 60,
];

interface Series {
  labels: { method: string; route: string; status: number };
  /** Counts per bucket; the last one counts everything above the highest bound. */
  counts: number[];
  sumSec: number;
}

interface Durations {
  metric: Metric;
  ofRoute(method: string, route: string): (status: number, durationSec: number) => void;
}

/**
 * A Prometheus histogram of every route's responses. The library's own looks up each series by its labels on every
 * observation, which costs more than the rest of a request's bookkeeping; here a route knows its series.
 */
function createDurations(name: string, help: string): Durations {
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

export interface TransferMetrics {
  countCutReader(): void;
  countCutSender(): void;
  countRefusedConnection(): void;
  /** Counts the bytes of a connection, as they are on the wire. */
  countBytes(socket: Socket): void;
}

export function createTransferMetrics(registry: Registry): TransferMetrics {
  const cut = new Counter({
    name: "upstow_cut_connections_total",
    help: "Connections ended because the client stalled or was too slow.",
    labelNames: ["side"],
    registers: [registry],
  });
  const refused = new Counter({
    name: "upstow_refused_connections_total",
    help: "Connections rejected because their address had too many open.",
    registers: [registry],
  });
  const open = new Set<Socket>();
  const closed = { bytesRead: 0, bytesWritten: 0 };
  const countWireBytes = (name: string, help: string, side: keyof typeof closed) =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(closed[side]);
        for (const socket of open) this.inc(socket[side]);
      },
    });
  countWireBytes(
    "upstow_network_received_bytes_total",
    "Bytes received from clients, TLS included.",
    "bytesRead",
  );
  countWireBytes("upstow_network_sent_bytes_total", "Bytes sent to clients, TLS included.", "bytesWritten");
  const [readers, senders] = [cut.labels("reader"), cut.labels("sender")];
  for (const counter of [readers, senders]) counter.inc(0);
  return {
    countCutReader: () => readers.inc(),
    countCutSender: () => senders.inc(),
    countRefusedConnection: () => refused.inc(),
    countBytes(socket) {
      open.add(socket);
      socket.once("close", () => {
        open.delete(socket);
        closed.bytesRead += socket.bytesRead;
        closed.bytesWritten += socket.bytesWritten;
      });
    },
  };
}
