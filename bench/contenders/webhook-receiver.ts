import { fork } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createCertificate } from "../../packages/server/test/support/webhooks/certificate.ts";

export interface Arrival {
  path: string;
  fileId: string;
  /** Milliseconds since 1970, with fractions. */
  at: number;
}

export interface WebhookReceiver {
  url: string;
  /** What a server needs to be allowed to send there. */
  env: Record<string, string>;
  /** All that have arrived under this path since the last call of `forget`. */
  under(path: string): Arrival[];
  waitFor(path: string, count: number): Promise<Arrival[]>;
  forget(): void;
  stop(): void;
}

type Told = { address: { port: number } } | { arrived: Arrival[] };

/** An HTTPS endpoint in a process of its own. */
export async function startWebhookReceiver(folder: string): Promise<WebhookReceiver> {
  const certificate = await createCertificate();
  const authority = join(folder, "authority.pem");
  await writeFile(authority, certificate.cert);
  const child = fork(fileURLToPath(new URL("webhook-receiver-server.ts", import.meta.url)), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const listening = Promise.withResolvers<number>();
  let arrivals: Arrival[] = [];
  let check = () => {};
  child.on("message", (told: Told) => {
    if ("address" in told) return listening.resolve(told.address.port);
    arrivals.push(...told.arrived);
    check();
  });
  child.send(certificate);
  const under = (path: string) => arrivals.filter((arrival) => arrival.path.startsWith(path));
  return {
    url: `https://127.0.0.1:${await listening.promise}`,
    env: { UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8", NODE_EXTRA_CA_CERTS: authority },
    under,
    waitFor(path, count) {
      return new Promise((resolve) => {
        check = () => {
          if (arrivals.length >= count && under(path).length >= count) resolve(under(path));
        };
        check();
      });
    },
    forget() {
      arrivals = [];
    },
    stop: () => child.disconnect(),
  };
}
