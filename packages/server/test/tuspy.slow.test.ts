import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findMissingPackages, tuspyPackages } from "../../../scripts/debian-packages.mjs";
import { type FaultProxy, startFaultProxy } from "../../../test/support/fault-proxy.ts";
import { statement } from "../src/db/statement.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("support/tus/upload.py", import.meta.url));
const [missing] = findMissingPackages(tuspyPackages);
const skip = missing === undefined ? false : `${missing.package} is not installed`;
const listEvents = statement((q, p: { fileId: string }) =>
  q.selectFrom("webhook_message").select("event").where("file_id", "=", p.fileId),
);
const kib = 1024;
const sizeBytes = 5 * kib * kib + 17;
const cutAfterBytes = 64 * kib;

onBothDatabases("tuspy, the client for Python", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let proxy: FaultProxy;
  let folder: string;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    proxy = await startFaultProxy(app.url);
    folder = await mkdtemp(join(tmpdir(), "upstow-tuspy-"));
  });
  after(async () => {
    await proxy.close();
    await app.close();
    await rm(folder, { recursive: true });
  });

  it("continues after a cut every 64 KiB and a restart, and the file counts once", { skip }, async () => {
    const bytes = randomBytes(sizeBytes);
    const path = join(folder, "bytes");
    await writeFile(path, bytes);
    // tuspy sends up to 1 MiB behind what was kept, so that only the last piece of a run gets through.
    proxy.setFaults(({ method, headers }) =>
      method === "PATCH" && Number(headers["content-length"]) > cutAfterBytes
        ? { kind: "cut-body", afterBytes: cutAfterBytes }
        : null,
    );
    const { body } = await client.post("upload/grants", { routeSlug: "default" });
    const upload = async (url: string, until: number) =>
      (
        await run("/usr/bin/python3", [
          program,
          `${proxy.url}/tus`,
          body.grant.token,
          path,
          url,
          String(until),
        ])
      ).stdout.trim();
    const firstBytes = 2 * kib * kib;
    const url = await upload("", firstBytes);
    await upload(url, sizeBytes);
    // A connection that is cut may lose bytes on the way, and is then cut more often.
    const leastCuts = [firstBytes, sizeBytes - firstBytes].map(
      (bytes) => Math.ceil(bytes / cutAfterBytes) - 1,
    );
    const cuts = proxy.faultCount();
    assert.ok(cuts >= leastCuts.reduce((sum, count) => sum + count), `${cuts} cuts`);
    const head = await fetch(url, {
      method: "HEAD",
      headers: { "tus-resumable": "1.0.0", authorization: `Bearer ${body.grant.token}` },
    });
    const fileId = head.headers.get("upstow-file-id") ?? "";
    const { file } = (await client.get(fileId)).body;
    assert.deepEqual(
      [file.status, file.name, file.type, file.size, file.metadata],
      ["UPLOADED", "größe.bin", "application/zip", sizeBytes, { take: "4" }],
    );
    assert.ok(bytes.equals(Buffer.from(await (await fetch(file.url)).arrayBuffer())));
    assert.deepEqual(await app.app.deps.db.all(listEvents, { fileId }), [{ event: "upload.completed" }]);
    await assertCountersMatch(app, tenant.projectId);
  });
});
