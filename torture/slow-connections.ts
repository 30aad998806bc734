import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { TestApp } from "../packages/server/test/support/start-app.ts";
import { createUploadClient, type UploadClient } from "../packages/server/test/support/upload-client.ts";
import { putSlowly } from "./put-slowly.ts";
import type { Random } from "./random.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { createTally } from "./tally.ts";
import { inParallel, withApp } from "./with-app.ts";

const dripMs = 1_000;
const honestUploads = 60;
const heads = [
  "GET /api/v1/files HTTP/1.1\r\nHost: localhost\r\n",
  "POST /api/v1/projects HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n",
  "",
];

/** Connections that send a letter now and then must not keep others from being served, nor last for ever. */
export function dripBytes({ rounds, random, onRound }: RunOptions): Promise<Outcome> {
  return withApp(random, async (app) => {
    const client = createUploadClient(app, (await app.createTenant("pro")).live);
    const violations: string[] = [];
    const tally = createTally("normal uploads meanwhile", "a slow but steady upload", "closed by the server");
    const sockets: Socket[] = [];
    const steady = uploadSteadily(client);
    await inParallel(rounds, 50, async () => {
      sockets.push(await openSlow(app, random, () => tally.add("closed by the server")));
      onRound(1, tally.counts);
    });
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write("x");
    }, dripMs);
    try {
      await inParallel(honestUploads, 4, async () => {
        await client.upload();
        tally.add("normal uploads meanwhile");
      });
      if ((await steady) === 200) tally.add("a slow but steady upload");
      else violations.push("a slow but steady upload was cut");
      // The limit for headers is half a minute; the rest is the time that a loaded machine takes.
      const deadlineMs = Date.now() + 120_000;
      while (sockets.some((socket) => !socket.destroyed) && Date.now() < deadlineMs) await wait(200);
    } finally {
      clearInterval(drip);
    }
    const left = sockets.filter((socket) => !socket.destroyed);
    for (const socket of left) socket.destroy();
    if (left.length > 0) violations.push(`${left.length} slow connections were never cut`);
    return { counts: tally.counts, violations };
  });
}

async function openSlow(app: TestApp, random: Random, onCut: () => void): Promise<Socket> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname).resume();
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.once("close", onCut);
  socket.write(heads[random.int(0, heads.length - 1)] ?? "");
  return socket;
}

/** Slow, but faster than the least that is asked of an upload. */
async function uploadSteadily(client: UploadClient): Promise<number> {
  const size = 40 * 4_096;
  const { fileId, uploadUrl } = await client.request({ fileSize: size });
  const pace = { contentType: "text/plain", pieces: 40, pauseMs: 500 };
  const { status } = await putSlowly(uploadUrl, Buffer.alloc(size, "slow"), pace);
  return status === 200 ? (await client.complete(fileId)).status : status;
}
