import type { Target } from "./scenario.ts";

/** What the load client's process is told. */
export interface LoadJob {
  /** A file of scenarios/, without its ending. */
  scenario: string;
  target: Target;
  clients: number;
  seconds: number;
  /** The processes whose CPU time is charged, by role. */
  pids: Readonly<Record<string, number | readonly number[]>>;
}

/** What it saw. */
export interface LoadResult {
  operations: number;
  elapsedSec: number;
  cpuSec: Record<string, number>;
  /** Near `elapsedSec`: then the client, not the server, set the pace. */
  clientCpuSec: number;
  medianMs: number;
  p99Ms: number;
}
