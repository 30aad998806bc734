import type { Config } from "../../config.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning } = createChecks("metrics");
const patienceMs = 5_000;

/** Whether something answers where a scraper would ask. Without a listener of their own there is nothing to check. */
export async function checkMetrics({ metricsAddress, metricsToken }: Config): Promise<Check[]> {
  if (metricsAddress === null) return [];
  const { host, port } = metricsAddress;
  const name = { "0.0.0.0": "127.0.0.1", "::": "[::1]" }[host] ?? (host.includes(":") ? `[${host}]` : host);
  const url = `http://${name}:${port}/metrics`;
  const headers: Record<string, string> =
    metricsToken === null ? {} : { authorization: `Bearer ${metricsToken}` };
  try {
    const { status } = await fetch(url, { headers, signal: AbortSignal.timeout(patienceMs) });
    if (status === 200) return [ok(`served at ${url}`)];
    return [
      warning(`${url} responds with ${status}.`, "Check UPSTOW_METRICS_ADDRESS and UPSTOW_METRICS_TOKEN."),
    ];
  } catch {
    return [warning(`Nothing answers at ${url}.`, "Start the service if it should run.")];
  }
}
