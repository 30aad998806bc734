import { IMPORT_FAILURES } from "@upstow/contract";
import { Counter, Gauge, type Registry } from "prom-client";

export interface ImportMetrics {
  count(outcome: string): void;
}

/** What this instance fetches from URLs. */
export function createImportMetrics(registry: Registry, countRunning: () => number): ImportMetrics {
  const registers = [registry];
  const finished = new Counter({
    name: "upstow_imports_total",
    help: "Imports from a URL that ended, by outcome: imported, or why they failed.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of ["imported", ...IMPORT_FAILURES]) finished.inc({ outcome }, 0);
  new Gauge({
    name: "upstow_imports_running",
    help: "Imports from a URL under way on this instance.",
    registers,
    collect() {
      this.set(countRunning());
    },
  });
  return { count: (outcome) => finished.inc({ outcome }) };
}
