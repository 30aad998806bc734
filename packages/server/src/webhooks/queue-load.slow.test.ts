import { it } from "node:test";
import { onBothDatabases } from "../../test/support/start-app.ts";
import { loadFourInstances } from "../../test/support/webhooks/load-four-instances.ts";

onBothDatabases("the webhook queue under more load", (database) => {
  it("loses nothing and shares no lease among four instances with 10,000 messages", async (t) => {
    await loadFourInstances(t, database, 125);
  });
});
