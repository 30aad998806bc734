// Needs its own process: it awaits findLayers() while it loads, which an earlier file may have begun.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openTestPool } from "../../../../../test/support/render/open-test-pool.ts";
import { palette, solid } from "../../../../../test/support/render/test-images.ts";
import { findLayers } from "./find-layers.ts";
import { strangerId } from "./launch-confined.ts";
import { type LayerName, noLayers } from "./layers.ts";
import { probeConfinement } from "./probe-confinement.ts";

// A program that tries to break out is started by what starts renderers, within one layer after another.

const dataDir = await mkdtemp(join(tmpdir(), "upstow-confined-"));
const secret = join(dataDir, "secret");
await writeFile(secret, "hush-hush", { mode: 0o600 });
after(() => rm(dataDir, { recursive: true }));

const { layers: available, missing } = await findLayers();
const isRoot = process.getuid?.() === 0;
const targets = { files: [secret], folders: [dataDir] };
const everything = [
  `read ${secret}`,
  `list ${dataDir}`,
  `write to ${dataDir}`,
  "read the service's environment",
  "signal the service",
  "run a program",
  "open a connection",
];

async function findReached(...layers: LayerName[]): Promise<string[]> {
  const { reached } = await probeConfinement(new Set(layers), targets);
  return reached;
}

function skipWithout(...layers: LayerName[]): string | false {
  const lacking = layers.find((layer) => !available.has(layer));
  return lacking !== undefined && `${lacking}: ${missing.get(lacking)}`;
}

test("without any layer all of it is reached, so that the attempts are worth something", async () => {
  assert.deepEqual(await findReached(), everything);
});

test("no renderer has anything of the service's environment, folder or descriptors", async (t) => {
  const name = "RENDER_TEST_SECRET";
  process.env[name] = "hush-hush";
  t.after(() => delete process.env[name]);
  for (const layers of [noLayers, available]) {
    const report = await probeConfinement(layers, targets);
    assert.deepEqual(
      report.environment.filter((key) => key !== "PWD"),
      [
        "GLIBC_TUNABLES",
        "MALLOC_ARENA_MAX",
        "MALLOC_MMAP_THRESHOLD_",
        "MALLOC_TRIM_THRESHOLD_",
        "UV_THREADPOOL_SIZE",
      ],
    );
    assert.equal(report.folder, "/");
    // libuv keeps one of its own in reserve, on /dev/null or else on the root it sees.
    const [reserve = "", ...none] = report.descriptors.splice(4);
    assert.deepEqual(report.descriptors, ["0: device", "1: device", "2: socket", "3: socket"]);
    assert.match(reserve, /^\d+: (device|file \d+)$/);
    assert.deepEqual(none, []);
  }
});

test("namespaces alone keep it from files, processes and the network", {
  skip: skipWithout("namespaces"),
}, async () => {
  assert.deepEqual(await findReached("namespaces"), ["run a program"]);
});

test("the filter of system calls keeps it from starting programs", {
  skip: skipWithout("syscalls"),
}, async () => {
  assert.deepEqual(await findReached("namespaces", "syscalls"), []);
});

test("another user can neither read what is private nor signal the service", {
  skip: isRoot ? skipWithout("user") : false,
}, async () => {
  if (!isRoot) return assert.match(missing.get("user") ?? "", /only root/);
  assert.deepEqual(await findReached("user"), ["run a program", "open a connection"]);
  assert.equal((await probeConfinement(new Set(["user"]), targets)).userId, strangerId);
});

test("Node's permissions keep JavaScript from files and programs", async () => {
  assert.deepEqual(await findReached("permission"), ["signal the service", "open a connection"]);
});

test("limits hold for memory, processor time, files and core dumps", {
  skip: skipWithout("limits"),
}, async () => {
  const { limits } = await probeConfinement(new Set(["limits"]), targets);
  const find = (name: string) =>
    limits
      .split("\n")
      .find((line) => line.startsWith(name))
      ?.slice(name.length)
      .trim()
      .split(/\s+/)
      .slice(0, 2);
  assert.deepEqual(find("Max core file size"), ["0", "0"]);
  assert.deepEqual(find("Max file size"), ["0", "0"]);
  assert.deepEqual(find("Max open files"), ["64", "64"]);
  assert.deepEqual(find("Max data size"), [`${3 * 1024 ** 3}`, `${3 * 1024 ** 3}`]);
  assert.deepEqual(find("Max cpu time"), ["60", "60"]);
});

test("all that this machine can do, as renderers have it, leaves nothing to reach", {
  skip: skipWithout("namespaces", "syscalls"),
}, async () => {
  assert.deepEqual(await findReached(...available), []);
});

test("the renderers of a pool are confined by all of that", async (t) => {
  const pool = openTestPool();
  t.after(() => pool.close());
  const dot = await solid(1, 1, palette.red).png().toBuffer();
  const recipe = { width: 8, fit: "cover", quality: 85 } as const;
  assert.ok((await pool.render({ account: "a", recipe, format: "png", readSource: async () => dot })).ok);
  const status = await readFile(`/proc/${pool.status().workerPids[0]}/status`, "utf8");
  const find = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1]?.split(/\s+/);
  assert.deepEqual(find("NSpid")?.length, available.has("namespaces") ? 2 : 1);
  assert.deepEqual(find("Seccomp"), [available.has("syscalls") ? "2" : "0"]);
  assert.deepEqual(find("NoNewPrivs"), [available.has("privileges") ? "1" : "0"]);
  assert.deepEqual(find("Uid")?.[0], String(available.has("user") ? strangerId : process.getuid?.()));
});

test("where namespaces and other users are not to be had, the rest is in force and images are rendered", {
  skip: skipWithout("namespaces"),
}, () => {
  const script = `
    import { findLayers } from ${JSON.stringify(new URL("./find-layers.ts", import.meta.url).href)};
    import { openTestPool } from ${JSON.stringify(new URL("../../../../../test/support/render/open-test-pool.ts", import.meta.url).href)};
    import { craftPng } from ${JSON.stringify(new URL("../../../../../test/support/render/test-images.ts", import.meta.url).href)};
    const pool = openTestPool();
    const source = craftPng(20, 20, Buffer.alloc(21 * 20));
    const recipe = { width: 8, fit: "cover", quality: 85 };
    const { ok } = await pool.render({ account: "a", recipe, format: "png", readSource: async () => source });
    await pool.close();
    const { layers, missing } = await findLayers();
    console.log(JSON.stringify({ ok, layers: [...layers], missing: Object.fromEntries(missing) }));`;
  // In a user namespace that may make no other, and knows of no user but its own.
  const shell = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"';
  const node = [
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    "--input-type=module",
    "-e",
    script,
  ];
  const told = execFileSync("unshare", ["--user", "--map-root-user", "sh", "-c", shell, "sh", ...node], {
    encoding: "utf8",
  });
  const { ok, layers, missing: reasons } = JSON.parse(told);
  assert.equal(ok, true);
  assert.deepEqual(layers, ["limits", "privileges", "permission"]);
  assert.match(reasons.namespaces, /namespace/);
  assert.deepEqual(Object.keys(reasons).sort(), ["namespaces", "syscalls", "user"]);
});
