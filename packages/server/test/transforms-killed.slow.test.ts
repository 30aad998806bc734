import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import sharp from "sharp";
import { openSqlite } from "../src/db/sqlite/sqlite.ts";
import { statement } from "../src/db/statement.ts";
import { nameFile } from "../src/files/serialize.ts";
import type { Recipe } from "../src/serving/images/recipe.ts";
import { createVariants } from "../src/serving/images/variants.ts";
import { findServedFile } from "../src/serving/queries.ts";
import { keepData } from "./support/keep-data.ts";
import { openTestPool } from "./support/render/open-test-pool.ts";
import { noise } from "./support/render/test-images.ts";
import { type ServerProcess, spawnServer } from "./support/spawn-server.ts";
import { startApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

// Deaths at the worst moment: amid a render that was paid for.

const settledMs = 500;
const grain = await noise(400, 400, 1).png().toBuffer();
const listStates = statement((q, _: object) => q.selectFrom("variant").select("state"));
/** As if the time of a claim, or of a refusal, had passed. */
const endLeases = statement((q, _: object) => q.updateTable("variant").set({ lease_until: 0 }));

async function listBlobs(dataDir: string): Promise<string[]> {
  const root = join(dataDir, "objects", "blobs");
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

async function until<T>(find: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await wait(10);
  }
}

test("a worker killed amid a render: the next one renders, or nothing is left", async (t) => {
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
  const warmUp = { account: "a", recipe, format: "png", readSource: async () => grain } as const;
  const expected = await pool.render(warmUp);
  assert.ok(expected.ok);

  /** The worker dies with the job in hand; of two, every later one as soon as it is there. */
  const openVariants = (kills: 1 | 2) =>
    createVariants(deps, {
      ...pool,
      render: async (request) => {
        const [pid = 0] = pool.status().workerPids;
        const rendered = pool.render({
          ...request,
          async findSourceFile() {
            const found = await request.findSourceFile?.();
            process.kill(pid, "SIGKILL");
            return found ?? null;
          },
        });
        let isOver = kills === 1;
        const end = () => {
          isOver = true;
        };
        rendered.then(end, end);
        while (!isOver) {
          for (const other of pool.status().workerPids) if (other !== pid) killIfThere(other);
          await nextTurn();
        }
        return rendered;
      },
    });

  await assert.rejects(openVariants(2).get(file, recipe, "png"), { status: 422 });
  assert.deepEqual(await listBlobs(app.dataDir), [source]);
  assert.deepEqual(await deps.db.all(listStates, {}), [{ state: "failed" }]);

  await deps.db.run(endLeases, {});
  await pool.render(warmUp);
  assert.equal((await openVariants(1).get(file, recipe, "png")).state, "ready");
  const variants = (await listBlobs(app.dataDir)).filter((path) => path !== source);
  assert.equal(variants.length, 1);
  assert.ok((await readFile(variants[0] ?? "")).equals(expected.bytes));
});

test("a server killed amid a render: the next one takes it over, and no worker outlives the first", async (t) => {
  const { reuse, remove } = await keepData("sqlite");
  t.after(remove);
  const { dataDir } = reuse;
  const env = { UPSTOW_DATA_DIR: dataDir };
  let server = await spawnServer(env);
  const { live } = server.keys;
  const { key } = await uploadFile(server, grain, { key: live, name: "g.png", type: "image/png" });
  const body = { key, width: 2500, format: "avif", quality: 100, fit: "cover", delivery: "public" };
  const made = await server.call("POST", "transforms/image", { key: live, body });
  const worker = await until(() => findSettledWorkerOf(server));
  server.process.kill("SIGKILL");
  await server.ended;
  await until(() => (listProcesses().some(({ pid }) => pid === worker) ? undefined : true));

  const db = openSqlite(join(dataDir, "upstow.db"));
  assert.deepEqual(await db.all(listStates, {}), [{ state: "rendering" }]);
  await db.run(endLeases, {});
  await db.close();
  server = await spawnServer(env);
  t.after(() => server.process.kill("SIGKILL"));
  const url = server.url + new URL(made.body.url).pathname;
  let response = await fetch(url);
  // A slow machine says so, and when to come back.
  for (let tries = 1; response.status === 503 && tries < 5; tries++) {
    await wait(Number(response.headers.get("retry-after")) * 1_000);
    response = await fetch(url);
  }
  assert.equal(response.status, 200);
  assert.equal((await sharp(await response.bytes()).metadata()).width, 2500);
});

function listProcesses(): { pid: number; parent: number; args: string }[] {
  const told = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" });
  return told.split("\n").flatMap((line) => {
    const [, pid, parent, state, args = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined || state?.startsWith("Z") ? [] : [{ pid: +pid, parent: Number(parent), args }];
  });
}

/** One that has run for a moment: a death while the sandbox is still being set up is another matter. */
async function findSettledWorkerOf(server: ServerProcess): Promise<number | undefined> {
  const worker = findWorkerOf(server);
  await wait(settledMs);
  return findWorkerOf(server) === worker ? worker : undefined;
}

/** The process that renders, below whatever confines it. It has been given its job when it runs. */
function findWorkerOf({ process: { pid = 0 } }: ServerProcess): number | undefined {
  const processes = listProcesses();
  const isBelow = (parent: number): boolean => {
    if (parent === pid) return true;
    const above = processes.find((candidate) => candidate.pid === parent);
    return above !== undefined && above.pid > 1 && isBelow(above.parent);
  };
  return processes.find(
    ({ parent, args }) => /node.*render-worker/.test(args) && !/bwrap/.test(args) && isBelow(parent),
  )?.pid;
}
