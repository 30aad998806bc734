import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ScanAnswer } from "./clamd.ts";

type Outcome = ScanAnswer["verdict"] | "error";

export interface ScanMetrics {
  observe(outcome: Outcome, durationMs: number): void;
}

/** What this instance has scanned for viruses. */
export function createScanMetrics(registry: Registry, isUp: () => boolean): ScanMetrics {
  const registers = [registry];
  const scans = new Counter({
    name: "upstow_scans_total",
    help: "Virus scans that ended, by outcome. A scan that ended with an error is repeated.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of ["clean", "infected", "unscanned", "error"]) scans.inc({ outcome }, 0);
  const durations = new Histogram({
    name: "upstow_scan_duration_seconds",
    help: "Time of each virus scan, the transfer of the file included.",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180],
    registers,
  });
  new Gauge({
    name: "upstow_scanner_up",
    help: "Whether the virus scanner answered this instance when it was last asked. 0 if there is none.",
    registers,
    collect() {
      this.set(isUp() ? 1 : 0);
    },
  });
  return {
    observe(outcome, durationMs) {
      scans.inc({ outcome });
      durations.observe(durationMs / 1000);
    },
  };
}
