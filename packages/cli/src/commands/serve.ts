import type { Command } from "../command.ts";

export const serve: Command = {
  name: "serve",
  summary: "Run the service, as npm start does",
  options: { quiet: { description: "log warnings and errors only, no requests" } },
  notes: `Its log goes to stdout: readable lines at a terminal, JSON lines elsewhere or with --json. SIGTERM and SIGINT end it once requests in
flight are done.`,
  async run() {
    await import("@upstow/server/main");
    // The service exits the process itself when told to stop.
    return new Promise(() => {});
  },
};
