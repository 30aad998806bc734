import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { envOf, keepData } from "./support/keep-data.ts";
import { openSocket, readAnswer, requestHead } from "./support/raw-http.ts";
import { spawnServer } from "./support/spawn-server.ts";
import { anyDatabase } from "./support/start-app.ts";

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  it(`finishes what is in flight on ${signal}, takes nothing new, and ends with 0`, async (t) => {
    const kept = await keepData(anyDatabase);
    t.after(() => kept.remove());
    const env = await envOf(kept);
    const server = await spawnServer({ ...env, UPSTOW_HOST: "127.0.0.1" });
    const url = server.url.replace("localhost", "127.0.0.1");
    const silent = await openSocket(url);
    const keptAlive = await openSocket(url);
    keptAlive.write(requestHead("GET", "/healthz"));
    assert.equal((await readAnswer(keptAlive)).status, 200);
    const inFlight = await openSocket(url);
    const body = JSON.stringify({ name: "in flight" });
    inFlight.write(
      requestHead("POST", "/api/v1/projects", [
        `Authorization: Bearer ${server.keys.live}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
      ]),
    );
    inFlight.write(body.slice(0, 5));
    // An answer on another connection shows that the server has read what came before.
    assert.equal((await server.call("GET", "projects", { key: server.keys.live })).status, 200);

    const closed = [silent, keptAlive].map((socket) => once(socket.resume(), "close"));
    server.process.kill(signal);
    await Promise.all(closed);
    // Who comes after the last close and before the end of listening is reset, or let in and put out again.
    while (await isLetIn(url)) await wait(10);
    inFlight.write(body.slice(5));
    const answer = await readAnswer(inFlight);
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get("connection"), "close");
    assert.equal(await server.ended, 0);

    const again = await spawnServer(env);
    t.after(() => again.process.kill("SIGKILL"));
    const list = await again.call("GET", "projects", { key: server.keys.live });
    assert.deepEqual(list.body.projects.map((project: { name: string }) => project.name).sort(), [
      "default",
      "in flight",
    ]);
    assert.equal(again.keys.live, "", "keys are shown once");
    again.process.kill("SIGTERM");
    assert.equal(await again.ended, 0);
  });
}

async function isLetIn(url: string): Promise<boolean> {
  try {
    (await openSocket(url)).destroy();
    return true;
  } catch (error) {
    assert.match(String((error as NodeJS.ErrnoException).code), /^ECONN(REFUSED|RESET)$/);
    return false;
  }
}
