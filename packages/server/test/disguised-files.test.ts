import assert from "node:assert/strict";
import { it } from "node:test";
import { makeDisguises, makeGenuine } from "./support/inspection/disguises.ts";
import { judgeAtDoors } from "./support/inspection/judge-at-doors.ts";
import { onAnyDatabase, startApp } from "./support/start-app.ts";

/** One for each way to tell a format: its first bytes, its text, its directory, and having none. */
const chosen = ["a.exe as ", "a.html as ", "macros", "noise"];

onAnyDatabase("disguised files", (database) => {
  it("are rejected by every door in the same words, and never read", async () => {
    const disguises = (await makeDisguises()).filter(({ name }) =>
      chosen.some((start) => (start.endsWith(" ") ? name.startsWith(start) : name === start)),
    );
    assert.equal(disguises.length, chosen.length);
    const app = await startApp({ database, env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" } });
    try {
      await judgeAtDoors(app, { disguises, large: disguises.slice(0, 1), genuine: await makeGenuine() });
    } finally {
      await app.close();
    }
  });
});
