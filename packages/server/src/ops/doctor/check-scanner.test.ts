import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MB } from "@upstow/contract";
import { clamdMissing, startClamd } from "../../../../../test/support/clamd.ts";
import { checkScanner } from "./check-services.ts";

describe("doctor's look at the virus scanner", { skip: clamdMissing }, () => {
  /** What each check says, with the largest file that is sent to a scanner with these settings. */
  async function look(settings: Record<string, string>, maxBytes: number) {
    const clamd = await startClamd(settings);
    try {
      const address = { host: "127.0.0.1", port: clamd.port };
      return (await checkScanner({ address, maxBytes }, Date.now())).map(({ status, message }) => [
        status,
        message,
      ]);
    } finally {
      await clamd.close();
    }
  }

  it("says nothing without one", async () => {
    assert.deepEqual(await checkScanner(null, Date.now()), []);
  });

  it("names the age of its signatures, and the tiers that go beyond its limits", async () => {
    const [signatures, size, tiers] = await look({}, 8 * MB);
    assert.equal(signatures?.[0], "warning");
    assert.match(signatures?.[1] ?? "", /has no ClamAV signatures/);
    assert.deepEqual(size, ["ok", `scans files up to ${8 * MB} bytes`]);
    assert.match(tiers?.[1] ?? "", /: pro, team, enterprise$/);
  });

  it("sees that large files are not looked at", async () => {
    const [, taken] = await look({ StreamMaxLength: "1M" }, 2 * MB);
    assert.equal(taken?.[0], "warning");
    const [, passed] = await look({ StreamMaxLength: "4M", MaxFileSize: "1M" }, 2 * MB);
    assert.equal(passed?.[0], "failed");
    assert.match(passed?.[1] ?? "", /pass without a scan/);
  });

  it("sees that it is away", async () => {
    const clamd = await startClamd();
    await clamd.close();
    const address = { path: clamd.socket };
    const [away] = await checkScanner({ address, maxBytes: MB }, Date.now());
    assert.equal(away?.status, "failed");
    assert.match(away?.message ?? "", /cannot be used/);
  });
});
