import { execFile } from "node:child_process";

interface SystemdEnv {
  NOTIFY_SOCKET?: string | undefined;
  /** How long systemd waits for a sign of life, in microseconds. */
  WATCHDOG_USEC?: string | undefined;
}

export interface Systemd {
  /** From here on it is told regularly that the event loop turns, if the unit has a watchdog. */
  ready(): void;
  stopping(): void;
}

/** Tells systemd the state of the service, through systemd's own command: Node has no datagram sockets for it. */
export function createSystemd({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdogUs }: SystemdEnv): Systemd {
  // What cannot be told is noticed by systemd itself.
  const tell = (message: string) =>
    void (socket === undefined || execFile("systemd-notify", ["--no-block", message], () => {}));
  return {
    ready() {
      tell("READY=1");
      const everyMs = Number(watchdogUs) / 2000;
      if (everyMs > 0) setInterval(tell, everyMs, "WATCHDOG=1").unref();
    },
    stopping: () => tell("STOPPING=1"),
  };
}
