import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { Client } from "pg";
import { getServerAccount } from "../../../test/support/postgres-binaries.ts";
import { startPostgres } from "../../../test/support/postgres-cluster.ts";
import { runUpstow } from "../../cli/test/support/run-upstow.ts";
import { type ServerProcess, spawnServer } from "./support/spawn-server.ts";
import { createUploadClient } from "./support/upload-client.ts";

/** Larger than what the database keeps itself. */
const bytes = Buffer.alloc(100_000, 7);

async function upload(server: ServerProcess, fileName: string): Promise<string> {
  const client = createUploadClient({ ...server, logLines: [] }, server.keys.live);
  const { url } = await client.upload(bytes, { fileName, contentType: "application/octet-stream" });
  return new URL(url).pathname;
}

it("goes back to the moment before a mistake, as docs/backup-and-restore.md says", async (t) => {
  const account = getServerAccount();
  const folder = await mkdtemp(join(tmpdir(), "upstow-point-in-time-"));
  await chmod(folder, 0o777);
  t.after(() => rm(folder, { recursive: true, force: true }));
  const run = (command: string, ...args: string[]) => {
    const { status, stderr } = spawnSync(command, args, { ...account, cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, stderr);
  };
  const archive = join(folder, "archive");
  const base = join(folder, "base");
  run("mkdir", archive);
  const first = await startPostgres({
    settings: [
      "archive_mode = on",
      `archive_command = 'test ! -f "${archive}/%f" && cp "%p" "${archive}/%f"'`,
    ],
  });
  t.after(() => first.stop());
  const env = {
    UPSTOW_DATA_DIR: join(folder, "data"),
    UPSTOW_SECRET: "a secret that is long enough for the test of going back",
  };
  const before = await spawnServer({ ...env, UPSTOW_DATABASE_URL: first.url });
  t.after(() => before.process.kill("SIGKILL"));
  const client = new Client(first.url);
  await client.connect();
  t.after(() => client.end());

  const early = await upload(before, "early.bin");
  // What pg_basebackup does, which the packages of the tests do not have.
  await client.query("SELECT pg_backup_start('base', true)");
  run("cp", "-a", first.dataDir, base);
  const { rows: labels } = await client.query("SELECT labelfile FROM pg_backup_stop()");
  run("rm", join(base, "postmaster.pid"));
  const late = await upload(before, "late.bin");
  const { rows: moments } = await client.query("SELECT clock_timestamp()::text AS moment");
  await client.query("UPDATE file SET status = 'FAILED'");
  const afterMistake = await upload(before, "after.bin");
  await client.query("SELECT pg_switch_wal()");
  await client.query("CHECKPOINT");
  assert.equal((await fetch(`${before.url}${early}`)).status, 404);
  before.process.kill("SIGTERM");
  await before.ended;
  await client.end();
  await first.stop();

  run("touch", join(base, "recovery.signal"), join(base, "backup_label"));
  await writeFile(join(base, "backup_label"), labels[0].labelfile);
  const { password } = new URL(first.url);
  const second = await startPostgres({
    restored: { directory: base, password },
    settings: [
      `restore_command = 'cp "${archive}/%f" "%p"'`,
      `recovery_target_time = '${moments[0].moment}'`,
      "recovery_target_action = 'promote'",
      "archive_mode = off",
    ],
  });
  t.after(() => second.stop());
  const restored = { ...env, UPSTOW_DATABASE_URL: second.url };
  const server = await spawnServer(restored);
  t.after(() => server.process.kill("SIGKILL"));
  for (const path of [early, late]) {
    const read = await fetch(`${server.url}${path}`);
    assert.equal(read.status, 200, path);
    assert.deepEqual(Buffer.from(await read.arrayBuffer()), bytes);
  }
  assert.equal((await fetch(`${server.url}${afterMistake}`)).status, 404);
  const check = await runUpstow(["verify", "--all"], restored);
  assert.equal(check.code, 0, check.stdout + check.stderr);
  assert.match(check.stdout, /^Checked 2 files/m);
  server.keys = before.keys;
  assert.equal((await fetch(`${server.url}${await upload(server, "again.bin")}`)).status, 200);
});
