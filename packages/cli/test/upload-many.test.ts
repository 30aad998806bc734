import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startService, type TestService } from "../../sdk/test/support/start-service.ts";
import { runUpstow } from "./support/run-upstow.ts";

describe("upstow upload of many small files", () => {
  let service: TestService;
  let folder: string;
  let env: Record<string, string>;
  before(async () => {
    service = await startService({ rateWindowMs: 8_000, env: { UPSTOW_RATE_LIMITS: "upload=12" } });
    folder = await mkdtemp(join(tmpdir(), "upstow-many-"));
    env = { HOME: folder, UPSTOW_URL: service.storage.url, UPSTOW_API_KEY: service.apiKey };
    await mkdir(join(folder, "photos"));
    for (let i = 0; i < 120; i++) await writeFile(join(folder, "photos", `${i}.txt`), `photo ${i}`);
  });
  after(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });
  const uploadCalls = () => service.storage.calls.filter((call) => call.includes("/api/v1/upload/"));

  it("goes in batches: 120 files below a limit of 12 calls, and one that is refused alone", async () => {
    const { live: key, projectId } = service.app.owner;
    const body = { slug: "texts", allowedTypes: ["text/plain"] };
    const route = await service.app.call("POST", `projects/${projectId}/routers`, { key, body });
    assert.equal(route.status, 201, JSON.stringify(route.body));
    await writeFile(join(folder, "photos/wrong.png"), "no text");
    const startedAt = performance.now();
    const run = await runUpstow(["upload", join(folder, "photos"), "--route", "texts", "--json"], env);
    const { files, failures } = JSON.parse(run.stdout);
    assert.equal(files.length, 120);
    assert.deepEqual(
      failures.map((failure: { code: string }) => failure.code),
      ["INVALID_FILE_TYPE"],
    );
    assert.ok(uploadCalls().every((call) => call.includes("/batch/")));
    // Completions are gathered for up to two seconds at a time, so a slow machine makes a call more.
    const longer = Math.floor((performance.now() - startedAt) / 2_000);
    assert.ok(uploadCalls().length <= 8 + longer, uploadCalls().join("\n"));
    assert.equal(run.stderr, "");
    await rm(join(folder, "photos/wrong.png"));
  });

  it("says on stderr that it waits for the rate limit, and goes on", async () => {
    const call = { key: service.apiKey, body: { fileId: "none" } };
    while ((await service.app.call("POST", "upload/complete", call)).status !== 429);
    const run = await runUpstow(["upload", join(folder, "photos/1.txt")], env);
    assert.match(run.stderr, /^Rate limit reached\. Continuing in \d+ s\.\n✔ 1\.txt /);
    assert.equal(run.code, 0);
  });
});
