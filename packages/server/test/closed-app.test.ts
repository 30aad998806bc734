import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { App } from "../src/app.ts";
import { onBothDatabases, startApp } from "./support/start-app.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

onBothDatabases("a service that was closed", (database) => {
  it("leaves nothing behind in its process", async () => {
    const closed: WeakRef<App["http"]>[] = [];
    for (let i = 0; i < 3; i++) closed.push(await useApp());
    const countKept = () => closed.filter((http) => http.deref() !== undefined).length;
    // What waits for a connection's or a timer's end keeps it a moment longer.
    for (let tries = 0; tries < 600 && countKept() > 0; tries++) {
      await wait(50);
      collectGarbage();
    }
    assert.equal(countKept(), 0);
  });

  async function useApp(): Promise<WeakRef<App["http"]>> {
    const app = await startApp({ database });
    const { status } = await app.call("GET", "files", { key: app.owner.live });
    assert.equal(status, 200);
    const ref = new WeakRef(app.app.http);
    await app.close();
    return ref;
  }
});
