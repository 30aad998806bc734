import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readAll } from "../../../test/support/storage/contract-client.ts";
import { migrate } from "../../db/migrate.ts";
import { openSqlite } from "../../db/sqlite/sqlite.ts";
import { createKeyring } from "../../kernel/security/keyring.ts";
import { openDiskStore } from "./disk-store.ts";
import { largestRowBytes } from "./small-blobs.ts";

async function open(directory: string, { database, objects }: { database: string; objects: string }) {
  const db = openSqlite(join(directory, database));
  await migrate(db);
  const close = () => db.close();
  try {
    const store = await openDiskStore({
      root: join(directory, objects),
      db,
      keyring: createKeyring(["a secret for tests that nobody else knows"]),
      publicUrl: () => "http://localhost",
      now: Date.now,
      onDamage: () => {},
    });
    return { store, close };
  } catch (error) {
    await close();
    throw error;
  }
}

test("directory and database are opened together or not at all", async () => {
  const directory = await mkdtemp(join(tmpdir(), "upstow-identity-"));
  const first = await open(directory, { database: "a.db", objects: "a" });
  const bytes = Buffer.alloc(largestRowBytes + 1, "kept");
  await first.store.write("k", bytes, { contentType: "a/b" });
  await first.close();

  const again = await open(directory, { database: "a.db", objects: "a" });
  assert.deepEqual(await readAll(again.store, "k"), bytes);
  await again.close();

  const mismatch = /does not belong to this database/;
  await assert.rejects(
    open(directory, { database: "new.db", objects: "a" }),
    mismatch,
    "its blobs would be swept",
  );
  await assert.rejects(
    open(directory, { database: "a.db", objects: "unmounted" }),
    mismatch,
    "its objects would be lost",
  );
  await (await open(directory, { database: "b.db", objects: "b" })).close();
  await rm(directory, { recursive: true });
});

test("a first start that was cut short can be repeated", async () => {
  const directory = await mkdtemp(join(tmpdir(), "upstow-identity-"));
  await (await open(directory, { database: "a.db", objects: "a" })).close();
  await rm(join(directory, "a", "identity"));
  await (await open(directory, { database: "a.db", objects: "a" })).close();
  await rm(join(directory, "a.db"));
  await (await open(directory, { database: "a.db", objects: "a" })).close();
  await rm(directory, { recursive: true });
});

test("first starts at the same moment agree on one identity", async () => {
  const directory = await mkdtemp(join(tmpdir(), "upstow-identity-"));
  const start = (objects: string) => open(directory, { database: "a.db", objects });
  const names = ["a", "b", "c"];
  await Promise.all((await Promise.all(names.map(start))).map((opened) => opened.close()));
  for (const name of names) await (await start(name)).close();
  await rm(directory, { recursive: true });
});
