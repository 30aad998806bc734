import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import sharp from "sharp";
import { openDiskStore } from "../src/adapters/disk-store/index.ts";
import { openSqlite } from "../src/adapters/sqlite.ts";
import { statement } from "../src/db/statement.ts";
import { findServedFile } from "../src/features/delivery/queries.ts";
import { nameFile } from "../src/features/files/name-file.ts";
import type { Recipe } from "../src/features/transforms/recipe.ts";
import { openTestPool } from "../src/features/transforms/render/open-test-pool.ts";
import { noise } from "../src/features/transforms/render/test-images.ts";
import { createVariants } from "../src/features/transforms/variants.ts";
import { createKeyring } from "../src/security/keyring.ts";
import { keepData } from "./support/keep-data.ts";
import { type ServerProcess, spawnServer } from "./support/spawn-server.ts";
import { startApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

// Deaths at the worst moment: the image is on the disk, whole and synced, and nobody has been told.

const grain = await noise(400, 400, 1).png().toBuffer();
const dayMs = 24 * 3_600_000;
const listStates = statement((q, _: object) => q.selectFrom("variant").select("state"));
/** As if the time of a claim, or of a refusal, had passed. */
const endLeases = statement((q, _: object) => q.updateTable("variant").set({ lease_until: 0 }));

async function listBlobs(dataDir: string): Promise<string[]> {
  const root = join(dataDir, "objects", "blobs");
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function until<T>(find: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await wait(10);
  }
}

test("a worker killed when its image is on the disk: the next one renders, or nothing is left", async (t) => {
  const app = await startApp({ database: "sqlite" });
  t.after(() => app.close());
  const pool = openTestPool();
  t.after(() => pool.close());
  const { deps } = app.app;
  const { key } = await uploadFile(app, grain, { key: app.owner.live, name: "g.png", type: "image/png" });
  const file = await deps.db.get(findServedFile, nameFile(key));
  assert.ok(file !== null);
  const [source] = await listBlobs(app.dataDir);
  const recipe: Recipe = { width: 300, fit: "cover", quality: 80, format: "png" };
  const expected = await pool.render({ recipe, format: "png", readSource: async () => grain });
  assert.ok(expected.ok);

  async function killWorker(pid: number | undefined, draft: string): Promise<void> {
    assert.ok(pid !== undefined);
    await writeFile(draft, expected.ok ? expected.bytes : "");
    process.kill(pid, "SIGKILL");
  }

  /** The worker dies with the job in hand; of two, the second as soon as it is there. */
  const openVariants = (kills: 1 | 2) =>
    createVariants(deps, {
      ...pool,
      render: async (request) => {
        const path = request.draft?.path ?? "";
        const [pid] = pool.status().workerPids;
        const rendered = pool.render({
          ...request,
          async findSourceFile() {
            const found = await request.findSourceFile?.();
            await killWorker(pid, path);
            return found ?? null;
          },
        });
        const findOther = () => pool.status().workerPids.find((other) => other !== pid);
        while (kills === 2 && findOther() === undefined) await nextTurn();
        if (kills === 2) await killWorker(findOther(), path);
        return rendered;
      },
    });

  await assert.rejects(openVariants(2).get(file, recipe, "png"), { status: 422 });
  assert.deepEqual(await listBlobs(app.dataDir), [source]);
  assert.deepEqual(await deps.db.all(listStates, {}), [{ state: "failed" }]);

  await deps.db.run(endLeases, {});
  await pool.render({ recipe, format: "png", readSource: async () => grain });
  assert.equal((await openVariants(1).get(file, recipe, "png")).state, "ready");
  const variants = (await listBlobs(app.dataDir)).filter((path) => path !== source);
  assert.equal(variants.length, 1);
  assert.ok((await readFile(variants[0] ?? "")).equals(expected.bytes));
});

test("a server killed when a worker has put the image on the disk: it is rendered again, the other one swept", async (t) => {
  const { reuse, remove } = await keepData("sqlite");
  t.after(remove);
  const { dataDir } = reuse;
  const env = { UPSTOW_DATA_DIR: dataDir };
  const withDatabase = async <T>(work: (db: ReturnType<typeof openSqlite>) => Promise<T>) => {
    const db = openSqlite(join(dataDir, "upstow.db"));
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  };

  let server = await spawnServer(env);
  const { live } = server.keys;
  const { key } = await uploadFile(server, grain, { key: live, name: "g.png", type: "image/png" });
  let path = "";
  let draft = "";
  for (let width = 300; draft === ""; width++) {
    const before = await listBlobs(dataDir);
    const body = { key, width, format: "avif", quality: 100, delivery: "public" };
    const made = await server.call("POST", "transforms/image", { key: live, body });
    path = new URL(made.body.url).pathname;
    await stopAmidRender(server);
    const found = await until(() => findWholeImage(dataDir, before, width));
    server.process.kill("SIGKILL");
    await server.ended;
    // On a machine that is slow at the wrong moment the server has heard of it already; then once more.
    const states = await withDatabase((db) => db.all(listStates, {}));
    if (states.some(({ state }) => state === "rendering")) draft = found;
    else server = await spawnServer(env);
  }

  const whole = await readFile(draft);
  await withDatabase((db) => db.run(endLeases, {}));
  server = await spawnServer(env);
  const response = await fetch(server.url + path);
  assert.equal(response.status, 200);
  assert.ok(whole.equals(await response.bytes()));
  server.process.kill("SIGTERM");
  assert.equal(await server.ended, 0);

  await withDatabase(async (db) => {
    const store = await openDiskStore({
      root: join(dataDir, "objects"),
      db,
      keyring: createKeyring(["a secret that signs nothing here"]),
      publicUrl: () => "",
      now: Date.now,
      onDamage: ({ blob }) => assert.fail(`${blob} is damaged`),
    });
    const sweep = (now: number) => store.sweep({ graceMs: dayMs, maxDeletions: 10, now });
    assert.deepEqual((await sweep(Date.now())).orphanBlobs, []);
    const { orphanBlobs, missingBlobs } = await sweep(Date.now() + 2 * dayMs);
    assert.deepEqual([orphanBlobs, missingBlobs], [[basename(draft)], []]);
  });
});

/** It has given the job to its worker, which works on, and hears nothing more. */
async function stopAmidRender(server: ServerProcess): Promise<void> {
  const { pid } = server.process;
  await until(() => {
    const processes = execFileSync("ps", ["-A", "-o", "ppid=,args="], { encoding: "utf8" });
    return processes.split("\n").find((line) => new RegExp(`^\\s*${pid} .*render-worker`).test(line));
  });
  // The turn in which it started the worker, and gave it the job, has ended when it answers.
  await server.call("GET", "/healthz");
  server.process.kill("SIGSTOP");
}

async function findWholeImage(dataDir: string, before: string[], width: number): Promise<string | undefined> {
  for (const path of await listBlobs(dataDir)) {
    if (before.includes(path)) continue;
    const size = await sharp(await readFile(path))
      .raw()
      .toBuffer({ resolveWithObject: true })
      .then(({ info }) => info.width)
      .catch(() => null);
    if (size === width) return path;
  }
  return undefined;
}
