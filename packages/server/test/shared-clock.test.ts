import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { openSharedClock } from "../src/db/shared-clock.ts";
import { openTestDatabase, type TestDatabase } from "./support/open-database.ts";
import { onBothDatabases } from "./support/start-app.ts";

const hourMs = 3_600_000;

onBothDatabases("the clock that instances share", (database) => {
  let opened: TestDatabase;
  before(async () => {
    opened = await openTestDatabase(database);
  });
  after(() => opened.close());

  it("is the machine's own where that agrees with the database", async () => {
    // A clock that knows tenths of a second only: any correction would show in the digits behind.
    const { now } = await openSharedClock(opened.db, () => Math.floor(Date.now() / 100) * 100);
    assert.equal(now() % 100, 0);
  });

  it("is the database's where the machine is ahead or behind, and notices a change", async () => {
    for (const skewMs of [2 * hourMs, -2 * hourMs]) {
      let isWrong = true;
      const clock = await openSharedClock(opened.db, () => Date.now() + (isWrong ? skewMs : 0));
      assert.ok(Math.abs(clock.now() - Date.now()) < 60_000, `${skewMs} ms are made up for`);
      isWrong = false;
      assert.ok(Math.abs(clock.now() - Date.now()) > hourMs, "until the machine's clock is set");
      await clock.adjust();
      assert.ok(Math.abs(clock.now() - Date.now()) < 60_000, "and the database was asked again");
    }
  });
});
