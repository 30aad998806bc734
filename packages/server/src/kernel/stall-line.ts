const mostNamed = 5;

/** A request or a job, with the time it has been running, or ran if it has ended. */
export interface Work {
  name: string;
  requestId?: string;
  ms: number;
}

export interface Stall {
  stalledMs: number;
  /** What the thread of the event loop used meanwhile. */
  cpuMs: number;
  /** All that was running at any time since the loop was last seen turning. */
  running: Work[];
}

interface StallLine {
  cause: "busy" | "waiting";
  message: string;
  fields: { stalledMs: number; cpuMs: number; running: Work[] };
}

/** The words for a stall. */
export function describeStall({ stalledMs, cpuMs, running }: Stall): StallLine {
  // What blocked the loop has been running for as long as it was blocked. The one that started last comes first: what
  // started long before, such as a download, has mostly been waiting.
  const suspects = running.filter(({ ms }) => ms >= stalledMs).sort((a, b) => a.ms - b.ms);
  const named = suspects.slice(0, mostNamed);
  const isBusy = cpuMs >= stalledMs / 2;
  const round = Math.round;
  const cause = isBusy
    ? "busy"
    : `only ${round(cpuMs)} ms of them on the CPU, so the process was not scheduled or waited for the disk`;
  return {
    cause: isBusy ? "busy" : "waiting",
    message: `event loop stalled for ${round(stalledMs)} ms (${cause}) ${nameWork(named, running.length - named.length)}`,
    fields: {
      stalledMs: round(stalledMs),
      cpuMs: round(cpuMs),
      running: named.map((work) => ({ ...work, ms: round(work.ms) })),
    },
  };
}

function nameWork(named: Work[], others: number): string {
  const names = named.map(({ name }) => name);
  if (others > 0)
    names.push(
      `${others} ${named.length > 0 ? "more" : "short"} ${others === 1 ? "request or job" : "requests and jobs"}`,
    );
  return names.length === 0 ? "with no request or job running" : `while handling ${names.join(", ")}`;
}
