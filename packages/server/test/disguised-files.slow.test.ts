import assert from "node:assert/strict";
import { it } from "node:test";
import { makeDisguises, makeGenuine } from "./support/inspection/disguises.ts";
import { judgeAtDoors } from "./support/inspection/judge-at-doors.ts";
import { onBothDatabases, startApp } from "./support/start-app.ts";

onBothDatabases("all disguised files", (database) => {
  it("are rejected by every door in the same words, and never read", async () => {
    const disguises = await makeDisguises();
    assert.ok(disguises.length > 100);
    // With more bytes, it is a GIF.
    const large = disguises.filter(({ name }) => name !== "script that is a GIF");
    const app = await startApp({ database, env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" } });
    try {
      await judgeAtDoors(app, { disguises, large, genuine: await makeGenuine() });
    } finally {
      await app.close();
    }
  });
});
