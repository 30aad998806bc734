import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "../../../src/db/database.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { openPostgres } from "../../../src/db/postgres/postgres.ts";
import { openSqlite } from "../../../src/db/sqlite/sqlite.ts";
import { statement } from "../../../src/db/statement.ts";
import { lingerAfterAnswer } from "../../../src/http/body-deadline.ts";
import { AppError, StorageFull } from "../../../src/kernel/errors.ts";
import { createKeyring } from "../../../src/kernel/security/keyring.ts";
import type { Damage } from "../../../src/storage/disk/damage.ts";
import {
  type DiskStore,
  type DiskStoreOptions,
  openDiskStore,
} from "../../../src/storage/disk/disk-store.ts";
import { deferContinue } from "../../../src/storage/disk/refusals.ts";
import { preflightHeaders, uploadCorsHeaders } from "../../../src/storage/disk/upload-receiver.ts";
import { createMigratedDatabase } from "../migrated-database.ts";

export type DatabaseKind = "sqlite" | "postgres";
export const databaseKinds: DatabaseKind[] = ["sqlite", "postgres"];

/** Closes itself at the end of an `await using` block, so that a failed test ends too. */
export interface TestStore extends AsyncDisposable {
  store: DiskStore;
  db: Database;
  root: string;
  damages: Damage[];
  /** Every file under the root but the store's identity. */
  listFiles(): Promise<string[]>;
  /** The blobs that are rows of the database. */
  listRows(): Promise<string[]>;
  close(): Promise<void>;
}

type Settings = Partial<
  Pick<DiskStoreOptions, "root" | "minFreeBytes" | "idleMs" | "takeOverAfterMs" | "now" | "largestRowBytes">
> & {
  secrets?: string[];
};

const listRowsStatement = statement((q, _: object) => q.selectFrom("disk_small_blob").select("blob"));

/** A disk store behind a real server on a free port. All bodies become files, unless the settings say otherwise. */
export async function openTestStore(
  kind: DatabaseKind = "sqlite",
  settings: Settings = {},
): Promise<TestStore> {
  const directory = await mkdtemp(join(tmpdir(), "upstow-disk-"));
  const testDatabase = kind === "postgres" ? await createMigratedDatabase() : null;
  const db = testDatabase === null ? openSqlite(join(directory, "test.db")) : openPostgres(testDatabase.url);
  await migrate(db);

  const { secrets = ["a secret for tests that nobody else knows"], ...options } = settings;
  const root = options.root ?? join(directory, "objects");
  const damages: Damage[] = [];
  const server = createServer((request, response) => void answer(store, request, response));
  deferContinue(server, () => true);
  const store = await openDiskStore({
    now: Date.now,
    largestRowBytes: -1,
    ...options,
    root,
    db,
    keyring: createKeyring(secrets),
    publicUrl: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    onDamage: (damage) => damages.push(damage),
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    await store.close();
    await db.close();
    await testDatabase?.drop();
    await rm(directory, { recursive: true, force: true });
  };

  return {
    store,
    db,
    root,
    damages,
    close,
    [Symbol.asyncDispose]: close,
    listRows: async () => (await db.all(listRowsStatement, {})).map(({ blob }) => blob),
    async listFiles() {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && entry.name !== "identity")
        .map((entry) => join(entry.parentPath, entry.name));
    },
  };
}

async function answer(store: DiskStore, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "OPTIONS") {
    response.writeHead(204, preflightHeaders(request)).end();
    return;
  }
  for (const [name, value] of Object.entries(uploadCorsHeaders)) response.setHeader(name, value);
  try {
    const { etag } = await store.receive(request, response);
    response.writeHead(200, { etag: `"${etag}"` }).end();
  } catch (error) {
    lingerAfterAnswer(request, response);
    const status = error instanceof AppError ? error.status : error instanceof StorageFull ? 507 : 500;
    response.writeHead(status, error instanceof AppError ? error.headers : {}).end(String(error));
  }
}
