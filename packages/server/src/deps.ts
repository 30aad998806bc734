import type { FastifyBaseLogger } from "fastify";
import type { Registry } from "prom-client";
import type { Config } from "./config.ts";
import type { Database } from "./db/database.ts";
import type { FairTurns } from "./fair-turns.ts";
import type { CustomHosts } from "./features/cdn-domain/custom-hosts.ts";
import type { CustomerBuckets } from "./features/customer-storage/customer-bucket.ts";
import type { Bandwidth } from "./features/delivery/bandwidth.ts";
import type { CdnPurge } from "./features/delivery/purge.ts";
import type { Dispatcher } from "./features/webhooks/dispatcher.ts";
import type { OutboundGuard } from "./net/outbound-guard.ts";
import type { ObjectStore } from "./ports/object-store.ts";
import type { ObjectStores } from "./ports/object-stores.ts";
import type { RateLimiter } from "./ports/rate-limiter.ts";
import type { Keyring } from "./security/keyring.ts";

/** What use cases work with. Made once, by the composition root. */
export interface Deps {
  config: Config;
  db: Database;
  /** The installation's own store. */
  store: ObjectStore;
  /** Where a file may be. */
  stores: ObjectStores;
  customerBuckets: CustomerBuckets;
  customHosts: CustomHosts;
  limiter: RateLimiter;
  keyring: Keyring;
  /** Vets the addresses that customers give us to call. */
  webhookGuard: OutboundGuard;
  /** Sends events; a nudge tells it that there may be a new one. */
  dispatcher: Pick<Dispatcher, "nudge" | "announce" | "deliver" | "leaseMs">;
  /** Bytes served that are not yet written down. */
  bandwidth: Bandwidth;
  /** Null where no CDN keeps files. */
  cdn: CdnPurge | null;
  /** Long reads of all accounts, step by step. */
  turns: FairTurns;
  metrics: Registry;
  log: FastifyBaseLogger;
  /** Epoch milliseconds. */
  now: () => number;
}
