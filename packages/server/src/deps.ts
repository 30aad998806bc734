import type { FastifyBaseLogger } from "fastify";
import type { Registry } from "prom-client";
import type { Config } from "./config.ts";
import type { Database } from "./db/database.ts";
import type { ImageTypes } from "./files/image-facts.ts";
import type { TypeDetector } from "./files/inspection/type-detector.ts";
import type { Scanner } from "./files/scanning/scanner.ts";
import type { Author } from "./kernel/actor.ts";
import type { FairTurns } from "./kernel/fair-turns.ts";
import type { OutboundGuard } from "./kernel/net/outbound-guard.ts";
import type { RateLimiter } from "./kernel/rate-limiter.ts";
import type { Keyring } from "./kernel/security/keyring.ts";
import type { PasswordCost } from "./kernel/security/passwords.ts";
import type { CustomHosts } from "./projects/cdn-domain/custom-hosts.ts";
import type { CustomerBuckets } from "./projects/customer-storage/customer-stores.ts";
import type { Bandwidth } from "./serving/bandwidth.ts";
import type { Tools } from "./serving/images/render/tools/recipes.ts";
import type { CdnPurge } from "./serving/purge.ts";
import type { ObjectStore, ObjectStores } from "./storage/object-store.ts";
import type { Dispatcher } from "./webhooks/dispatcher.ts";

/** The dependencies of use cases. Created once, by the composition root. */
export interface Deps {
  config: Config;
  db: Database;
  /** The installation's own store. */
  store: ObjectStore;
  /** All stores that may hold a file. */
  stores: ObjectStores;
  customerBuckets: CustomerBuckets;
  customHosts: CustomHosts;
  limiter: RateLimiter;
  keyring: Keyring;
  /** Checks addresses that customers ask us to call. */
  webhookGuard: OutboundGuard;
  /** The same for files that they ask us to import. */
  importGuard: OutboundGuard;
  /** Sends events; a nudge tells it that there may be a new one. */
  dispatcher: Pick<Dispatcher, "nudge" | "announce" | "deliver" | "leaseMs">;
  /** Bytes served but not yet recorded. */
  bandwidth: Bandwidth;
  /** Null if no CDN caches files. */
  cdn: CdnPurge | null;
  /** Runs long reads of all accounts step by step. */
  turns: FairTurns;
  /** Lower in tests. */
  passwordCost: PasswordCost | undefined;
  /** Who the audit trail says made a change: the service itself, unless a request or a command says otherwise. */
  author: Author;
  metrics: Registry;
  /** Examines what was uploaded, apart from everything else. */
  typeDetector: TypeDetector;
  /** Optional programs that make pictures of HEIC, PDF and video. */
  tools: Tools;
  /** Declared types that count as images on this machine. */
  imageTypes: ImageTypes;
  /** Scans files for viruses; a nudge tells it that there may be a new one. */
  scanner: Pick<Scanner, "nudge">;
  /** Called when a read is rejected because the file's bytes are missing or not the confirmed ones. */
  onDamagedRead: (fileId: string) => void;
  log: FastifyBaseLogger;
  /** Epoch milliseconds. */
  now: () => number;
}
