import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import os from "node:os";
import { giveWayFlag } from "./worker-channel.ts";

// When processor or memory run short, rendering gives way and the service lives on.

attempt(() => os.setPriority(Math.min(os.constants.priority.PRIORITY_LOW, os.getPriority() + 10)));
if (process.argv.includes(giveWayFlag)) attempt(runWhenIdle);
if (process.platform === "linux") attempt(() => writeFileSync("/proc/self/oom_score_adj", "1000"));
// A terminal or service manager signals the whole group; the service decides when workers end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

/**
 * A low priority does not help the service's latency: whoever runs keeps the processor for a slice of some
 * milliseconds. Only this class of Linux leaves it at once.
 */
function runWhenIdle(): void {
  execFileSync("chrt", ["--all-tasks", "--idle", "--pid", "0", String(process.pid)], { stdio: "ignore" });
}

/** Containers may forbid what is only a courtesy. */
function attempt(courtesy: () => void): void {
  try {
    courtesy();
  } catch {}
}
