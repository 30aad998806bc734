import { flag, httpUrl, type ReadValue } from "./values.ts";

export interface TracingConfig {
  /** Where spans are sent. */
  url: string;
  /** The share of traces to keep, unless the caller has decided. */
  sampleRatio: number;
}

/** By OpenTelemetry's own variables, so that an environment made for it works. */
export function readTracing(read: ReadValue): TracingConfig | null {
  const endpoint = read<string | null>("OTEL_EXPORTER_OTLP_ENDPOINT", null, httpUrl);
  const tracesEndpoint = read<string | null>("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", null, httpUrl);
  const sampleRatio = read("OTEL_TRACES_SAMPLER_ARG", 1, ratio);
  const isDisabled = read("OTEL_SDK_DISABLED", false, flag);
  if (isDisabled || (endpoint === null && tracesEndpoint === null)) return null;
  return { url: tracesEndpoint ?? `${endpoint}/v1/traces`, sampleRatio };
}

function ratio(value: string): number {
  const number = Number(value);
  if (!(number >= 0 && number <= 1)) throw new Error(`must be a number from 0 to 1, not "${value}"`);
  return number;
}
