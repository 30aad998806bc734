import pg from "pg";
import { connect, sendOver } from "./connections.ts";

const retryMs = 500;

export interface Listener {
  listen(channel: string, onMessage: (message: string) => void): Promise<void>;
  close(): Promise<void>;
}

/** Reconnects whenever the connection is lost. Messages sent in between are missed. */
export function createListener(url: string): Listener {
  const channels = new Map<string, ((message: string) => void)[]>();
  let client: pg.Client | null = null;
  let opening: Promise<void> | null = null;
  let isClosed = false;

  function open(): Promise<void> {
    opening ??= openOnce().finally(() => {
      opening = null;
    });
    return opening;
  }

  async function openOnce(): Promise<void> {
    try {
      const opened = await connect(url);
      opened.once("end", openSoon);
      opened.on("notification", ({ channel, payload = "" }) => {
        for (const onMessage of channels.get(channel) ?? []) onMessage(payload);
      });
      client = opened;
      for (const channel of channels.keys()) await subscribe(opened, channel);
    } catch (error) {
      openSoon();
      throw error;
    }
  }

  function openSoon(): void {
    client?.connection.stream.destroy();
    client = null;
    setTimeout(() => {
      // A failure schedules the next attempt itself.
      if (client === null && !isClosed) open().catch(() => {});
    }, retryMs).unref();
  }

  const subscribe = (to: pg.Client, channel: string) =>
    sendOver(to)({ text: `LISTEN ${pg.escapeIdentifier(channel)}` });

  return {
    async listen(channel, onMessage) {
      const others = channels.get(channel) ?? [];
      channels.set(channel, [...others, onMessage]);
      if (client === null || opening !== null) await open();
      else if (others.length === 0) await subscribe(client, channel);
    },
    async close() {
      isClosed = true;
      await opening?.catch(() => {});
      client?.connection.stream.destroy();
    },
  };
}
