import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import type { Receiver } from "./receiver.ts";
import type { Installation, ServerProcess } from "./server-process.ts";
import { until } from "./until.ts";
import { uploadFile } from "./upload.ts";

const uploadsPerRound = 8;

export function fileIdOf(request: { body: Buffer }): string {
  return JSON.parse(request.body.toString()).file.id;
}

export interface KillOptions {
  installation: Installation;
  receiver: Receiver;
  server: ServerProcess;
  /** Uploads to its route `hooked`, whose webhook is the receiver. */
  key: string;
  rounds: number;
}

/** Kills the server while it takes uploads, and checks what the receiver got. Resolves with the server of the end. */
export async function killAtAnyMoment(options: KillOptions): Promise<ServerProcess> {
  const { installation, receiver, key, rounds } = options;
  let { server } = options;
  const acknowledged: string[] = [];
  receiver.answer = async (_request, response) => {
    await wait(Math.random() * 20);
    response.end("ok");
  };
  for (let round = 0; round < rounds; round++) {
    const uploads = Array.from({ length: uploadsPerRound }, async () => {
      const file = await uploadFile(server, key, "hooked");
      acknowledged.push(file.id);
    });
    await Promise.race(uploads);
    await wait(Math.random() * 60);
    await server.kill("SIGKILL");
    await Promise.allSettled(uploads);
    await installation.expireLeases();
    server = await installation.start();
  }
  await until(async () => {
    const received = new Set(receiver.received.map(fileIdOf));
    return acknowledged.every((id) => received.has(id));
  });
  const byFile = Map.groupBy(receiver.received, fileIdOf);
  for (const requests of byFile.values()) {
    assert.equal(new Set(requests.map(({ headers }) => headers["delivery-message-id"])).size, 1);
  }
  assert.ok(acknowledged.length >= rounds);
  return server;
}
