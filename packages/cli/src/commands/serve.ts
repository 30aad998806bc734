import type { Command } from "../command.ts";

export const serve: Command = {
  name: "serve",
  summary: "Run the service, like npm start",
  options: { quiet: { description: "log warnings and errors only, no requests" } },
  notes: `Logs to stdout: readable lines on a terminal, JSON lines otherwise or with --json. SIGTERM and SIGINT stop it once requests in
flight are done.`,
  async run() {
    await import("@upstow/server/main");
    // The service exits the process itself when told to stop.
    return new Promise(() => {});
  },
};
