import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { after, afterEach, before, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { type HttpResponse, Upload, type UploadOptions } from "tus-js-client";
import { type Fault, type FaultProxy, startFaultProxy } from "../../../test/support/fault-proxy.ts";
import { statement } from "../src/db/statement.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { onDisk, onlyOnDisk } from "./support/test-bucket.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";

const listEvents = statement((q, p: { fileId: string }) =>
  q.selectFrom("webhook_message").select("event").where("file_id", "=", p.fileId),
);
const findFurthest = statement((q, _: object) =>
  q.selectFrom("resumable_upload").select((e) => e.fn.max<number>("offset_bytes").as("offset")),
);
const mib = 1024 ** 2;

onAnyDatabase("tus-js-client", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let proxy: FaultProxy;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    proxy = await startFaultProxy(app.url);
  });
  afterEach(() => proxy.setFaults(() => null));
  after(async () => {
    await proxy?.close();
    await app?.close();
  });

  async function createGrant(maxFiles: number): Promise<string> {
    const { body } = await client.post("upload/grants", { routeSlug: "default", maxFiles });
    return body.grant.token;
  }

  const send = (bytes: Buffer, token: string, options: UploadOptions = {}): Promise<HttpResponse> =>
    new Promise((resolve, reject) => {
      new Upload(bytes, {
        endpoint: `${proxy.url}/tus`,
        headers: { Authorization: `Bearer ${token}` },
        metadata: { filename: "clip.mov", filetype: "video/quicktime", take: "4" },
        retryDelays: [0, 10, 20, 40],
        onSuccess: ({ lastResponse }) => resolve(lastResponse),
        onError: reject,
        ...options,
      }).start();
    });

  async function assertStoredOnce(response: HttpResponse, bytes: Buffer): Promise<void> {
    const fileId = response.getHeader("Upstow-File-Id") ?? "";
    const { file } = (await client.get(fileId)).body;
    assert.deepEqual(
      [file.status, file.name, file.type, file.size, file.metadata],
      ["UPLOADED", "clip.mov", "video/quicktime", bytes.length, { take: "4" }],
    );
    assert.ok(bytes.equals(Buffer.from(await (await fetch(file.url)).arrayBuffer())));
    const events = await app.app.deps.db.all(listEvents, { fileId });
    assert.deepEqual(events, [{ event: "upload.completed" }]);
  }

  it("resumes automatically after every cut, and the file counts once", async () => {
    const bytes = randomBytes(8 * mib);
    const { uploads, storageBytes } = await client.usage();
    const token = await createGrant(1);
    const patches: Fault[] = [
      { kind: "cut-body", afterBytes: 2 * mib },
      { kind: "cut-body", afterBytes: 3 * mib },
      // All bytes arrive, and only the response is lost.
      { kind: "reset", isForwarded: true },
    ];
    const heads: Fault[] = [{ kind: "reset" }, { kind: "reset", isForwarded: true }];
    const offsets: number[] = [];
    /** What arrived is kept without anybody asking. */
    async function untilKept(): Promise<void> {
      const { db } = app.app.deps;
      const last = offsets.at(-1) ?? 0;
      while (Number((await db.get(findFurthest, {}))?.offset) <= last) await wait(10);
    }
    proxy.setFaults(({ method, headers }) => {
      if (method === "HEAD") return heads.shift() ?? { kind: "wait", until: untilKept() };
      if (method !== "PATCH") return null;
      offsets.push(Number(headers["upload-offset"]));
      return patches.shift() ?? null;
    });
    const response = await send(bytes, token);
    assert.deepEqual([patches, heads], [[], []]);
    assert.equal(offsets.length, 3);
    // Each attempt continues behind what arrived before the cut.
    const [first, second = 0, third = 0] = offsets;
    assert.ok(first === 0 && second > 0 && third > second, offsets.join());
    await assertStoredOnce(response, bytes);
    const usage = await client.usage();
    assert.deepEqual([usage.uploads - uploads, usage.storageBytes - storageBytes], [1, bytes.length]);
    await assertCountersMatch(app, tenant.projectId);
    await assert.rejects(send(bytes, token), /response code: 403/);
  });

  onlyOnDisk("buckets have no concatenation")("sends parts in parallel and joins them", async () => {
    const bytes = randomBytes(3 * mib);
    // Each part takes a place until they are joined, and so does the file.
    const token = await createGrant(3);
    const parallelUploads = 2;
    await assertStoredOnce(await send(bytes, token, { parallelUploads }), bytes);
    await assertStoredOnce(await send(bytes, token), bytes);
    await assertCountersMatch(app, tenant.projectId);
  });

  it("continues below the path of the public URL, behind a proxy that removes it", async () => {
    const env = {
      UPSTOW_PUBLIC_URL: "https://files.example.com/files",
      UPSTOW_TRUSTED_PROXIES: "127.0.0.1",
    };
    const behind = await startApp({ database, env });
    const { port } = new URL(behind.url);
    const door = createServer((request, response) => {
      const [, path] = /^\/files(\/.*)/.exec(request.url ?? "") ?? [];
      if (path === undefined) return void response.writeHead(404).end();
      const { method } = request;
      const headers = {
        ...request.headers,
        "x-forwarded-proto": "https",
        "x-forwarded-host": "files.example.com",
      };
      const outgoing = httpRequest({ host: "127.0.0.1", port, method, path, headers }, (answer) =>
        answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)),
      );
      request.pipe(outgoing);
    }).listen(0, "127.0.0.1");
    await once(door, "listening");
    const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}/files`;
    try {
      const bytes = randomBytes(100_000);
      const endpoint = `${url}/tus`;
      const response = await send(bytes, behind.owner.live, { endpoint, chunkSize: 40_000 });
      assert.match(response.getHeader("Upstow-File-Url") ?? "", /^https:\/\/files\.example\.com\/files\/f\//);
      if (onDisk) await send(bytes, behind.owner.live, { endpoint, parallelUploads: 2 });

      const created = await fetch(`${url}/resumable`, {
        method: "POST",
        headers: { authorization: `Bearer ${behind.owner.live}`, "upload-complete": "?0" },
      });
      const state = await fetch(new URL(created.headers.get("location") ?? "", created.url), {
        method: "HEAD",
      });
      assert.equal(state.headers.get("upload-offset"), "0");
    } finally {
      door.close();
      await behind.close();
    }
  });
});
