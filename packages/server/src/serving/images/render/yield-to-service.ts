import os from "node:os";

// When the processor runs short, rendering gives way and the service lives on. What else there is to give way by, the
// shell has set that started this process.

try {
  os.setPriority(Math.min(os.constants.priority.PRIORITY_LOW, os.getPriority() + 10));
} catch {
  // Containers may forbid what is only a courtesy.
}
// A terminal or service manager signals the whole group; the service decides when workers end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
