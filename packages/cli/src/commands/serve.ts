import type { Command } from "../command.ts";

export const serve: Command = {
  name: "serve",
  summary: "Run the service, as npm start does",
  notes:
    "Its log is JSON lines on stdout, with --json or without. SIGTERM and SIGINT end it once requests in flight are done.",
  async run() {
    await import("@upstow/server/main");
    // The service ends the process itself when it is told to stop.
    return new Promise(() => {});
  },
};
