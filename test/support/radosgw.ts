import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { findCommand } from "../../scripts/debian-packages.mjs";
import { pickFreePort } from "./free-port.ts";
import type { S3Server } from "./s3-server.ts";
import { createServerGroup } from "./server-group.ts";

const commands = ["ceph", "ceph-mon", "ceph-osd", "monmaptool", "radosgw", "radosgw-admin"];
const missing = commands.find((command) => findCommand(command) === null);

/** For `{ skip: radosgwMissing }`: false, or why the test cannot run on this machine. */
export const radosgwMissing: string | false =
  missing !== undefined && `${missing} is not installed on this machine`;

const execute = promisify(execFile);
const START_MS = 60_000;

// One monitor and one daemon that keeps everything in memory, without passwords among themselves.
const configuration = (directory: string, fsid: string, monitorPort: number, port: number) => `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monitorPort}]
public addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc secure
run dir = ${directory}
admin socket =
log file =
log to stderr = false
mon data = ${directory}/mon
mon allow pool size one = true
mon data avail crit = 1
osd data = ${directory}/osd
osd objectstore = memstore
memstore device bytes = 4294967296
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
rgw data = ${directory}/rgw
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw thread pool size = 32
`;

/** Starts Ceph's S3 gateway over a cluster of its own on free ports of 127.0.0.1. */
export async function startRadosgw(): Promise<S3Server> {
  const group = await createServerGroup("radosgw");
  const { directory } = group;
  const [accessKeyId, secretAccessKey] = ["testkey", "testsecret"];
  const [monitorPort, port] = [await pickFreePort(), await pickFreePort()];
  const [fsid, osdId] = [randomUUID(), randomUUID()];
  const conf = join(directory, "ceph.conf");
  const env = { CEPH_CONF: conf };
  const run = (program: string, ...args: string[]) =>
    execute(program, args, {
      cwd: directory,
      env: { ...process.env, ...env },
      timeout: START_MS,
      maxBuffer: 1e8,
    });
  try {
    await writeFile(conf, configuration(directory, fsid, monitorPort, port));
    for (const name of ["mon", "osd", "rgw"]) await mkdir(join(directory, name));
    const address = `[v2:127.0.0.1:${monitorPort}]`;
    await run("monmaptool", "--create", "--addv", "a", address, "--fsid", fsid, "monmap");
    await run("ceph-mon", "-i", "a", "--mkfs", "--monmap", "monmap");
    group.start("ceph-mon", ["-i", "a", "-f"], { env });
    await run("ceph", "osd", "new", osdId);
    await run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osdId);
    group.start("ceph-osd", ["-i", "0", "-f"], { env });
    group.start("radosgw", ["-n", "client.rgw", "-f"], { env });
    const keys = ["--access-key", accessKeyId, "--secret", secretAccessKey];
    await run("radosgw-admin", "user", "create", "--uid", "test", "--display-name", "test", ...keys);
    const endpoint = `http://127.0.0.1:${port}`;
    await waitUntilAnswered(endpoint);
    return { endpoint, region: "us-east-1", accessKeyId, secretAccessKey, stop: () => group.stop() };
  } catch (error) {
    await group.stop();
    throw error;
  }
}

async function waitUntilAnswered(url: string): Promise<void> {
  const lastMs = Date.now() + START_MS;
  for (;;) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    if (Date.now() > lastMs) throw new Error("radosgw does not answer");
    await sleep(100);
  }
}
