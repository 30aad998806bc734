import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { it } from "node:test";
import { findCommand } from "../../../scripts/debian-packages.mjs";
import { spawnServer } from "./support/spawn-server.ts";

const receive = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("listening", flush=True)
while True:
    print(s.recv(4096).decode().replace("\\n", " "), flush=True)
`;
const missing = ["systemd-notify", "python3"].filter((command) => findCommand(command) === null);

it("tells systemd that it is ready, alive and stopping", {
  skip: missing.length > 0 && `${missing} is not installed on this machine`,
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "upstow-systemd-"));
  t.after(() => rm(folder, { recursive: true }));
  const socket = join(folder, "notify");
  const receiver = spawn("python3", ["-c", receive, socket], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => receiver.kill());
  const told = createInterface(receiver.stdout)[Symbol.asyncIterator]();
  const waitFor = async (words: string) => {
    for (let line = await told.next(); ; line = await told.next()) {
      assert.ok(!line.done, `never told ${words}`);
      if (line.value.includes(words)) return;
    }
  };
  await waitFor("listening");
  const server = await spawnServer({
    UPSTOW_DATA_DIR: join(folder, "data"),
    NOTIFY_SOCKET: socket,
    WATCHDOG_USEC: "400000",
  });
  await waitFor("READY=1");
  await waitFor("WATCHDOG=1");
  server.process.kill("SIGTERM");
  await waitFor("STOPPING=1");
  assert.equal(await server.ended, 0);
});
