import { describe, it } from "node:test";
import { killUnderLoad } from "./support/kill-under-load.ts";
import { onlyOnDisk } from "./support/test-bucket.ts";

describe("kill -9 during writes", () => {
  onlyOnDisk("PostgreSQL goes with a bucket")("loses nothing that was acknowledged (embedded)", () =>
    killUnderLoad("sqlite", { writes: 200, kills: 1 }),
  );
  it("loses nothing that was acknowledged (PostgreSQL)", () =>
    killUnderLoad("postgres", { writes: 60, kills: 1 }));
});
