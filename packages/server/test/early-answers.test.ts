import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { openSocket, readAnswer, requestHead } from "./support/raw-http.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";

describe("an answer that comes before the end of the body", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  const refusals = {
    "without a key": { status: 401, method: "POST", path: "/api/v1/upload/request" },
    "on an unknown path": { status: 404, method: "POST", path: "/nope" },
    "with too large a body": { status: 413, method: "POST", path: "/api/v1/upload/request", hasKey: true },
    // Those of a bucket do not lead here.
    ...(onDisk && { "with an edited upload URL": { status: 403, method: "PUT", path: "/u/edited" } }),
  };
  const headOf = (
    { method, path, hasKey }: { method: string; path: string; hasKey?: boolean },
    length: number,
  ) =>
    requestHead(method, path, [
      "Content-Type: application/json",
      `Content-Length: ${length}`,
      ...(hasKey ? [`Authorization: Bearer ${app.owner.live}`] : []),
    ]);

  for (const [what, refusal] of Object.entries(refusals)) {
    it(`reaches a client ${what} that first sends everything and only then reads`, async () => {
      const socket = await openSocket(app.url);
      const broken = once(socket, "error").then(([error]) => Promise.reject(error));
      const send = async () => {
        socket.write(headOf(refusal, 4_000_000));
        for (let i = 0; i < 20; i++) {
          socket.write(Buffer.alloc(200_000, " "));
          await wait(10);
        }
        return readAnswer(socket);
      };
      const answer = await Promise.race([send(), broken]);
      socket.destroy();
      assert.equal(answer.status, refusal.status);
      assert.equal(answer.headers.get("connection"), "close");
    });
  }

  it("ends the connection, also of a client that goes on sending", { timeout: 20_000 }, async () => {
    const { hostname, port } = new URL(app.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.write(`${headOf(refusals["without a key"], 100_000)}{`);
    assert.equal((await readAnswer(socket)).status, 401);
    socket.on("error", () => {}).resume();
    const trickle = setInterval(() => socket.write("x"), 100);
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(trickle);
  });

  it("leaves the connection usable where the body was small and is here", async () => {
    const socket = await openSocket(app.url);
    for (const refusal of Object.values(refusals).filter(({ status }) => status !== 413)) {
      socket.write(`${headOf(refusal, 2)}{}`);
      assert.equal((await readAnswer(socket)).status, refusal.status);
    }
    socket.write(requestHead("GET", "/healthz"));
    assert.equal((await readAnswer(socket)).status, 200);
    socket.destroy();
  });
});
