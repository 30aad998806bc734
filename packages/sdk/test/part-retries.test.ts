import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createUpstow } from "../src/index.ts";
import { MB, startService, type TestService } from "./support/start-service.ts";

/** What becomes of one PUT: the storage refuses it, breaks down, or the line is cut. */
type Fate = "refused" | "broken" | "cut";

describe("a part that never arrives", { concurrency: true }, () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.close());

  /** Sends a file whose PUTs fare so, the last fate for good, and counts them and the calls for new URLs. */
  async function count(sizeBytes: number, fates: Fate[], retries?: number) {
    const counts = { puts: 0, opened: 0, signed: 0 };
    const upstow = createUpstow({
      apiKey: service.apiKey,
      baseUrl: service.app.url,
      fetch: async (input, init) => {
        const url = String(input);
        if (url.endsWith("/upload/request") || url.endsWith("/multipart/init")) counts.opened += 1;
        if (url.endsWith("/multipart/sign")) counts.signed += 1;
        if (init?.method !== "PUT") return fetch(input, init);
        const fate = fates[Math.min(counts.puts, fates.length - 1)];
        counts.puts += 1;
        if (fate === "cut") throw new TypeError("the line was cut");
        // An edited URL is refused by the service itself.
        return fate === "refused" ? fetch(`${url}x`, init) : new Response(null, { status: 500 });
      },
    });
    const options = { name: "never.bin", concurrency: 1, ...(retries === undefined ? {} : { retries }) };
    const upload = upstow.upload(new Blob([randomBytes(sizeBytes)]), options);
    const error = await upload.then(
      () => null,
      (reason) => reason,
    );
    return { ...counts, code: error?.code };
  }

  it("is sent four times at most, however it fails, and signed anew for each retry at most", async () => {
    const mixes: [Fate[], signed: number, code: string][] = [
      [["refused"], 3, "STORAGE_REFUSED"],
      [["broken"], 0, "STORAGE_REFUSED"],
      [["cut", "refused"], 2, "STORAGE_REFUSED"],
      [["refused", "cut"], 1, "NETWORK_ERROR"],
      [["refused", "broken", "refused", "cut"], 2, "NETWORK_ERROR"],
    ];
    // At the same time: each waits before its retries.
    await Promise.all(
      mixes.map(async ([fates, signed, code]) =>
        assert.deepEqual(await count(11 * MB, fates), { puts: 4, opened: 1, signed, code }, fates.join()),
      ),
    );
  });

  it("holds for a file in one piece, whose URL a new request renews", async () => {
    assert.deepEqual(await count(100, ["refused"]), {
      puts: 4,
      opened: 4,
      signed: 0,
      code: "STORAGE_REFUSED",
    });
  });

  it("is sent once without retries, but for a URL that was refused, which may have expired", async () => {
    assert.equal((await count(11 * MB, ["cut"], 0)).puts, 1);
    assert.equal((await count(11 * MB, ["cut", "refused"], 0)).puts, 1);
    assert.deepEqual(await count(11 * MB, ["refused"], 0), {
      puts: 2,
      opened: 1,
      signed: 1,
      code: "STORAGE_REFUSED",
    });
  });
});
