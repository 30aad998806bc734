import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, before, it } from "node:test";
import { MB } from "@upstow/contract";
import { assertCountersMatch } from "./support/recount.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";
import { until } from "./support/webhooks/until.ts";

/** What a scanner says once it has received so many bytes; null at the end of the file. */
interface Manner {
  afterBytes: number | null;
  says: string;
}

const honest: Manner = { afterBytes: null, says: "stream: OK\0" };
const strange: Record<string, Manner> = {
  "says that a file is clean before it has it": { afterBytes: 1000, says: "stream: OK\0" },
  "says nothing that means anything": { afterBytes: null, says: "\xff\x01 stream OK\0" },
  "never comes to an end": { afterBytes: 1000, says: "x".repeat(5000) },
  "is cut off within a verdict": { afterBytes: null, says: "stream: OK" },
  "says two things at once": { afterBytes: null, says: "stream: A FOUND\nstream: OK\0" },
  "has no memory left": { afterBytes: null, says: "stream: Can't allocate memory ERROR\0" },
};

onAnyDatabase("a scanner", (database) => {
  const bytes = Buffer.alloc(4 * MB, "a");
  let manner = honest;
  const scanner = createServer((socket) => {
    let received = Buffer.alloc(0);
    let isDone = false;
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.toString("latin1", 0, 6) === "zPING\0") return void socket.end("PONG\0");
      // Whether it would take a file of this size.
      if (received.length >= 14 && received.readUInt32BE(10) === bytes.length) return void socket.end();
      const { afterBytes, says } = manner;
      const isTime =
        afterBytes === null
          ? received.length > 14 && received.readUInt32BE(received.length - 4) === 0
          : received.length > afterBytes;
      if (!isTime || isDone) return;
      isDone = true;
      socket[says.endsWith("\0") ? "write" : "end"](says, "latin1");
    });
  });
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  before(async () => {
    scanner.listen(0, "127.0.0.1");
    await once(scanner, "listening");
    const { port } = scanner.address() as AddressInfo;
    app = await startApp({ database, env: { UPSTOW_CLAMD: `tcp://127.0.0.1:${port}` } });
    app.clock.setTime(Date.now());
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    await client.post(`projects/${tenant.projectId}/routers`, { slug: "scanned", scan: true });
  });
  after(async () => {
    await app.close();
    scanner.close();
  });

  const problems = () => app.logLines.filter((line) => line.includes("scan"));
  const scanUntil = (isDone: () => boolean | Promise<boolean>) =>
    until(async () => {
      app.app.deps.scanner.nudge();
      return isDone();
    });

  for (const [what, next] of Object.entries(strange))
    it(`${what}: the file waits, and is scanned again, less often as it grows older`, async () => {
      manner = next;
      app.logLines.length = 0;
      const { id, url } = await client.upload(bytes, { routeSlug: "scanned" });
      await scanUntil(() => problems().length === 1);
      app.clock.advance(10_001);
      await scanUntil(() => problems().length === 2);
      for (const line of problems()) assert.match(line, /could not be scanned; will retry/);
      const { scan } = (await client.get(id)).body.file;
      assert.deepEqual([scan, (await fetch(url)).status], ["pending", 404]);
      manner = honest;
      app.clock.advance(2_500);
      await scanUntil(async () => (await client.get(id)).body.file.scan === "clean");
      await assertCountersMatch(app, tenant.projectId);
    });
});
