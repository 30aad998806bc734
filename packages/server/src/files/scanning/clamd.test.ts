import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { MB } from "@upstow/contract";
import { type ClamdHandle, clamdMissing, eicar, startClamd } from "../../../../../test/support/clamd.ts";
import { createClamd } from "./clamd.ts";

const never = new AbortController().signal;

describe("the client of clamd", { skip: clamdMissing }, () => {
  let clamd: ClamdHandle;
  before(async () => {
    clamd = await startClamd({ StreamMaxLength: "2M", MaxFileSize: "1M", AlertExceedsMax: "yes" });
  });
  after(() => clamd.close());
  const scan = (address: object, chunks: Buffer[]) => {
    const sizeBytes = chunks.reduce((sum, { length }) => sum + length, 0);
    return createClamd({ address: address as never }).scan({ sizeBytes, chunks }, never);
  };

  it("gets every verdict, at a port and at a socket", async () => {
    for (const address of [{ host: "127.0.0.1", port: clamd.port }, { path: clamd.socket }]) {
      assert.match(await createClamd({ address }).findVersion(), /^ClamAV \d/);
      const infected = { verdict: "infected", signature: "Upstow.Test.EICAR.UNOFFICIAL" };
      assert.deepEqual(await scan(address, [Buffer.from("hello")]), { verdict: "clean" });
      assert.deepEqual(await scan(address, []), { verdict: "clean" });
      assert.deepEqual(await scan(address, [eicar]), infected);
      assert.deepEqual(
        await scan(address, [Buffer.alloc(70_000), eicar.subarray(0, 9), eicar.subarray(9)]),
        infected,
      );
      // Over what it looks at, and over what it takes: it hangs up in the middle of those.
      assert.deepEqual(await scan(address, [Buffer.alloc(1.5 * MB)]), { verdict: "unscanned" });
      for (let i = 0; i < 20; i++)
        assert.deepEqual(await scan(address, Array(48).fill(Buffer.alloc(64 * 1024))), {
          verdict: "unscanned",
        });
    }
  });
});
