import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { PART_SIZE_BYTES } from "@upstow/contract";
import { settled } from "./support/imports/import-client.ts";
import { serve, startSource } from "./support/imports/source.ts";
import { envOf, keepData } from "./support/keep-data.ts";
import { spawnServer } from "./support/spawn-server.ts";

describe("kill -9 of the service", () => {
  it("continues an import where it stopped", async () => {
    const kept = await keepData("sqlite");
    const source = await startSource();
    const env = {
      ...(await envOf(kept)),
      UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8",
      UPSTOW_RATE_LIMITS: "off",
    };
    try {
      const bytes = randomBytes(2 * PART_SIZE_BYTES + 4_000);
      const whole = serve(bytes);
      source.paths.set("/file", (_, response) => {
        source.paths.set("/file", whole);
        const headers = { "content-length": bytes.length, "accept-ranges": "bytes", etag: '"1"' };
        response.writeHead(200, headers).write(bytes.subarray(0, PART_SIZE_BYTES + 100));
      });
      const server = await spawnServer(env);
      const { live: key } = server.keys;
      const body = { url: `${source.url}/file`, routeSlug: "default" };
      const { file } = (await server.call("POST", "upload/import", { key, body })).body;
      for (;;) {
        const { body: seen } = await server.call("GET", `files/${file.id}`, { key });
        if (seen.file?.progress?.receivedBytes > PART_SIZE_BYTES) break;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      server.process.kill("SIGKILL");
      assert.equal(await server.ended, "SIGKILL");

      const again = await spawnServer(env);
      const get = (id: string) => again.call("GET", `files/${id}`, { key });
      const done = await settled({ get }, file.id);
      assert.equal(done.status, "UPLOADED", JSON.stringify(done.failure));
      assert.deepEqual(Buffer.from(await (await fetch(done.url)).arrayBuffer()), bytes);
      assert.deepEqual(
        source.requests.map(({ headers }) => headers.range),
        [undefined, `bytes=${PART_SIZE_BYTES}-`],
      );
      again.process.kill("SIGKILL");
      await again.ended;
    } finally {
      await source.close();
      await kept.remove();
    }
  });
});
