import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "@upstow/contract";
import { pino } from "pino";
import { Registry } from "prom-client";
import { readConfig } from "../../../src/config.ts";
import type { Database } from "../../../src/db/database.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { openPostgres } from "../../../src/db/postgres/postgres.ts";
import type { FileRow, WebhookAttemptRow, WebhookMessageRow } from "../../../src/db/schema.ts";
import { openSqlite } from "../../../src/db/sqlite/sqlite.ts";
import { statement } from "../../../src/db/statement.ts";
import { createId } from "../../../src/kernel/ids.ts";
import { createOutboundGuard } from "../../../src/kernel/net/outbound-guard.ts";
import { createKeyring } from "../../../src/kernel/security/keyring.ts";
import { insertAccount } from "../../../src/projects/accounts/queries.ts";
import { createProject } from "../../../src/projects/projects.ts";
import {
  createDispatcher,
  type Dispatcher,
  type DispatcherDeps,
  type DispatcherOptions,
} from "../../../src/webhooks/dispatcher.ts";
import { enqueueUploadCompleted } from "../../../src/webhooks/enqueue.ts";
import { createMigratedDatabase } from "../migrated-database.ts";
import type { DatabaseKind } from "../start-app.ts";

const listMessages = statement((q, _: object) => q.selectFrom("webhook_message").selectAll().orderBy("id"));
const listAllAttempts = statement((q, _: object) =>
  q.selectFrom("webhook_attempt").selectAll().orderBy("message_id").orderBy("number"),
);

export interface TestQueue {
  db: Database;
  /** Null for the embedded database. */
  databaseUrl: string | null;
  /** Of the embedded database. */
  databasePath: string;
  deps: DispatcherDeps;
  logLines: string[];
  createProject(): Promise<string>;
  enqueue(projectId: string, url: string | null, count?: number, environment?: Environment): Promise<void>;
  messages(): Promise<WebhookMessageRow[]>;
  attempts(): Promise<WebhookAttemptRow[]>;
  /** As on an instance of its own: with its own connection to the same database. */
  createInstance(options?: DispatcherOptions, changed?: Partial<DispatcherDeps>): Promise<Dispatcher>;
  close(): Promise<void>;
}

export interface QueueOptions {
  retryBaseMs?: number;
  allow?: string;
}

/** The outbox with its database and nothing around it. */
export async function createQueue(kind: DatabaseKind, options: QueueOptions = {}): Promise<TestQueue> {
  const dataDir = await mkdtemp(join(tmpdir(), "upstow-queue-"));
  const postgres = kind === "postgres" ? await createMigratedDatabase() : null;
  const databasePath = join(dataDir, "upstow.db");
  const connect = () =>
    postgres === null ? openSqlite(databasePath) : openPostgres(postgres.url, { maxConnections: 8 });
  const db = connect();
  await migrate(db);
  const logLines: string[] = [];
  const config = readConfig({
    UPSTOW_DATA_DIR: dataDir,
    UPSTOW_WEBHOOK_ALLOW_CIDRS: options.allow ?? "127.0.0.0/8",
    UPSTOW_WEBHOOK_RETRY_BASE_MS: String(options.retryBaseMs ?? 12_000),
  });
  const createDeps = (database: Database): DispatcherDeps => ({
    config,
    db: database,
    keyring: createKeyring(["a secret of the installation for tests"]),
    webhookGuard: createOutboundGuard({ allow: config.webhookAllowCidrs }),
    metrics: new Registry(),
    isSpeaker: async () => true,
    log: pino({ level: "info" }, { write: (line: string) => void logLines.push(line) }),
    now: Date.now,
  });
  const opened: { dispatcher: Dispatcher; database: Database }[] = [];

  return {
    db,
    databaseUrl: postgres?.url ?? null,
    databasePath,
    deps: createDeps(db),
    logLines,
    createProject: () => insertProject(db),
    async enqueue(projectId, url, count = 1, environment = "live") {
      for (let done = 0; done < count; done += 100) {
        const files = Array.from({ length: Math.min(100, count - done) }, () =>
          createFile(projectId, environment),
        );
        await db.transact(async (tx) => {
          const uploads = files.map((file) => ({
            file,
            webhookUrl: url,
            fileUrl: `https://cdn.example/${file.key}`,
          }));
          await Promise.all(uploads.map((upload) => enqueueUploadCompleted(tx, Date.now(), upload)));
        });
      }
    },
    messages: () => db.all(listMessages, {}),
    attempts: () => db.all(listAllAttempts, {}),
    async createInstance(instance, changed) {
      const database = connect();
      const dispatcher = createDispatcher({ ...createDeps(database), ...changed }, instance);
      opened.push({ dispatcher, database });
      return dispatcher;
    },
    async close() {
      for (const { dispatcher, database } of opened) {
        await dispatcher.close();
        await database.close();
      }
      await db.close();
      await postgres?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function insertProject(db: Database): Promise<string> {
  const now = Date.now();
  return db.transact(async (tx) => {
    const email = `${createId(now)}@example.com`;
    const account = await tx.get(insertAccount, {
      id: createId(now),
      email,
      passwordHash: null,
      tier: "enterprise",
      now,
    });
    if (account === null) throw new Error("the account exists");
    return (await createProject(tx, now, { accountId: account.id, tier: "enterprise" }, "queue")).id;
  });
}

export function createFile(projectId: string, environment: Environment): FileRow {
  const now = Date.now();
  const id = createId(now);
  return {
    id,
    key: `${projectId}/docs/${id}/a.txt`,
    project_id: projectId,
    environment,
    route_slug: "docs",
    name: "a.txt",
    size_bytes: 5,
    type: "text/plain",
    status: "UPLOADED",
    metadata: '{"n":1}',
    sha256: null,
    etag: null,
    store: "disk",
    upload_id: null,
    reserved_period: null,
    reap_at: now,
    created_at: now,
    updated_at: now,
    completed_at: now,
    access: "public",
    audience: null,
    stored_apart: 0,
    links_revoked_at: 0,
    store_etag: null,
    expires_at: null,
    claim_by: null,
    purge_at: null,
    image: null,
    facts_due_at: null,
    focus: null,
    detected_type: null,
    scan: null,
    scan_due_at: null,
  };
}
