import type { Span, TextMapGetter } from "@opentelemetry/api";
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from "fastify";
import type { TracingConfig } from "../config/services.ts";
import { type Call, type RunningCall, watchCalls } from "../kernel/calls.ts";
import { version } from "../kernel/version.ts";

export interface Tracing {
  /** To be called before any other hook is added: what runs before it is not part of a trace. */
  traceRequests(app: FastifyInstance): void;
  close(): Promise<void>;
}

/** Shutting down must not wait long for a collector that is away. */
const closeWithinMs = 2_000;
/** Includes all attempts. */
const sendWithinMs = 5_000;
const complainEveryMs = 300_000;
const untraced: RunningCall = { end() {} };

/** Sends spans of requests, and of what they call, to a collector. */
export async function openTracing(
  config: TracingConfig,
  { databaseName, log }: { databaseName: string; log: FastifyBaseLogger },
): Promise<Tracing> {
  const sdk = await startSdk(config, log);
  const unwatch = watchCalls((call) => beginSpan(sdk, databaseName, call));
  return {
    traceRequests: (app) => traceRequests(sdk, app),
    async close() {
      unwatch();
      await sdk.stop();
    },
  };
}

type Sdk = Awaited<ReturnType<typeof startSdk>>;

/** The libraries are loaded only where tracing is used. */
async function startSdk({ url, sampleRatio }: TracingConfig, log: FastifyBaseLogger) {
  const api = await import("@opentelemetry/api");
  const { AsyncLocalStorageContextManager } = await import("@opentelemetry/context-async-hooks");
  const { W3CTraceContextPropagator } = await import("@opentelemetry/core");
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
  const { detectResources, envDetector, resourceFromAttributes } = await import("@opentelemetry/resources");
  const { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } = await import(
    "@opentelemetry/sdk-trace"
  );
  let quietUntilMs = 0;
  const complain = (...words: unknown[]) => {
    if (performance.now() < quietUntilMs) return;
    quietUntilMs = performance.now() + complainEveryMs;
    log.warn({ collector: url, reason: words.map(String).join(" ").slice(0, 500) }, "traces cannot be sent");
  };
  const silent = () => {};
  api.diag.setLogger(
    { error: complain, warn: complain, info: silent, debug: silent, verbose: silent },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const own = resourceFromAttributes({ "service.name": "upstow", "service.version": version });
  const provider = new TracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url, timeoutMillis: sendWithinMs }) }),
    ],
  });
  return {
    ...api,
    tracer: provider.getTracer("upstow", version),
    propagator: new W3CTraceContextPropagator(),
    async stop(): Promise<void> {
      const late = new Promise<void>((resolve) => setTimeout(resolve, closeWithinMs).unref());
      await Promise.race([provider.shutdown().catch(complain), late]);
      api.context.disable();
      api.diag.disable();
    },
  };
}

function fail({ SpanStatusCode }: Sdk, span: Span, reason: unknown): void {
  const message = reason instanceof Error ? reason.message : String(reason);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

function beginSpan(sdk: Sdk, databaseName: string, { to, operation }: Call): RunningCall {
  const { context, trace, tracer, propagator } = sdk;
  // Background work runs every few seconds and would bury the requests. Deliveries deserve a trace.
  if (to !== "webhook" && trace.getActiveSpan() === undefined) return untraced;
  const attributes =
    to === "database"
      ? { "db.system.name": databaseName, "db.operation.name": operation }
      : { "peer.service": to };
  const span = tracer.startSpan(`${to} ${operation}`, { kind: sdk.SpanKind.CLIENT, attributes });
  const headers: Record<string, string> = {};
  if (to === "webhook")
    propagator.inject(trace.setSpan(context.active(), span), headers, sdk.defaultTextMapSetter);
  return {
    headers,
    end(error) {
      if (error !== undefined) fail(sdk, span, error);
      span.end();
    },
  };
}

function traceRequests(sdk: Sdk, app: FastifyInstance): void {
  const { context, trace, tracer, propagator } = sdk;
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook("onRequest", (request, _reply, done) => {
    const { config, url: route = "unknown" } = request.routeOptions;
    if (config.isProbe === true) {
      done();
      return;
    }
    const parent = propagator.extract(sdk.ROOT_CONTEXT, request.headers, singleHeaders);
    // Never the path: those of signed and presigned URLs contain signatures.
    const attributes = {
      "http.request.method": request.method,
      "http.route": route,
      "upstow.request.id": request.id,
    };
    const span = tracer.startSpan(
      `${request.method} ${route}`,
      { kind: sdk.SpanKind.SERVER, attributes },
      parent,
    );
    spans.set(request, span);
    request.traceId = span.spanContext().traceId;
    context.with(trace.setSpan(parent, span), done);
  });
  app.addHook("onResponse", (request, reply, done) => {
    const span = spans.get(request);
    span?.setAttribute("http.response.status_code", reply.statusCode);
    const { actor } = request;
    if (actor != null) span?.setAttributes({ "upstow.project.id": actor.projectId });
    if (span !== undefined && reply.statusCode >= 500) fail(sdk, span, reply.statusCode);
    span?.end();
    done();
  });
}

/** A header sent twice is ambiguous. */
const singleHeaders: TextMapGetter<FastifyRequest["headers"]> = {
  keys: (headers) => Object.keys(headers),
  get(headers, name) {
    const value = headers[name];
    return typeof value === "string" ? value : undefined;
  },
};
