const connectWithinMs = 5000;

/** Connects and runs a script, as the rate limiter does; throws what keeps it from that. */
export async function tryRedis(url: string): Promise<void> {
  const { createClient } = await import("@redis/client");
  const client = createClient({ url, socket: { connectTimeout: connectWithinMs, reconnectStrategy: false } });
  // What fails is thrown; without somebody who hears the event too, it would end the process.
  client.on("error", () => {});
  const late = AbortSignal.timeout(connectWithinMs);
  const tooLate = new Promise<never>((_, reject) => {
    late.onabort = () => reject(new Error(`no answer within ${connectWithinMs} ms`));
  });
  try {
    await Promise.race([client.connect().then(() => client.sendCommand(["EVAL", "return 1", "0"])), tooLate]);
  } finally {
    client.destroy();
  }
}
