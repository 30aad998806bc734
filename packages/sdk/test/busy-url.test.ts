import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { it } from "node:test";
import { createUpstow } from "../src/index.ts";
import { createFetchPut } from "../src/transfer/put.ts";
import { putWithRetries } from "../src/transfer/put-with-retries.ts";
import { startService } from "./support/start-service.ts";

it("waits while the storage still holds the body of a lost connection", { timeout: 30_000 }, async (t) => {
  const service = await startService();
  t.after(() => service.close());
  const { app, apiKey } = service;
  const wanted = { fileName: "a.bin", fileSize: 100_000, contentType: "a/b", routeSlug: "default" };
  const { body } = await app.call("POST", "upload/request", { key: apiKey, body: wanted });
  const { uploadUrl, fileId } = body;

  const { hostname, port, pathname } = new URL(uploadUrl);
  const lost = connect(Number(port), hostname);
  const head = [`PUT ${pathname} HTTP/1.1`, "Host: localhost", "Content-Type: a/b", "Content-Length: 100000"];
  lost.write(`${head.join("\r\n")}\r\nExpect: 100-continue\r\n\r\n`);
  await once(lost, "data");

  const seen: number[] = [];
  const put = createFetchPut(() => fetch);
  const counting: typeof put = async (request) => {
    const answer = await put(request);
    seen.push(answer.status);
    if (seen.length === 4) lost.destroy();
    return answer;
  };
  const policy = { retries: 1, baseDelayMs: 20 };
  await putWithRetries(counting, policy, new AbortController().signal, {
    body: new Uint8Array(100_000),
    contentType: "a/b",
    url: () => uploadUrl,
    renew: async () => {},
    onProgress() {},
  });
  assert.deepEqual(seen.slice(0, 4), [409, 409, 409, 409]);
  assert.equal(seen.at(-1), 200);
  const upstow = createUpstow({ apiKey, baseUrl: app.url });
  assert.equal((await upstow.uploads.complete({ fileId })).status, "UPLOADED");
});
