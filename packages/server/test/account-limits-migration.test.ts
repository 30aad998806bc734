import assert from "node:assert/strict";
import { it } from "node:test";
import { migrate } from "../src/db/migrate.ts";
import { statement } from "../src/db/statement.ts";
import { onBothDatabases, startApp } from "./support/start-app.ts";
import { createUploadClient, smallBody } from "./support/upload-client.ts";

const countAsBefore = statement((q, p: { projectId: string; stored: number; reserved: number }) =>
  q
    .updateTable("usage_total")
    .set({ stored_bytes: p.stored, reserved_bytes: p.reserved })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", "live"),
);
const findTotal = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("usage_total")
    .select(["stored_bytes as stored", "reserved_bytes as reserved"])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", "live"),
);
const moveToBucket = statement((q, p: { key: string }) =>
  q.updateTable("file").set({ store: "cs_theirs" }).where("key", "=", p.key),
);
const undo = `
DELETE FROM usage_share;
DROP INDEX project_counted;
ALTER TABLE account DROP COLUMN keys_made;
ALTER TABLE account DROP COLUMN keys_made_since;
ALTER TABLE project DROP COLUMN is_counted;
DELETE FROM migration WHERE id = '021-account-limits';
`;
const addStore = (projectId: string) =>
  `INSERT INTO customer_store VALUES ('cs_theirs', '${projectId}', NULL, 'r', 'b', '', 0, 's', 0, 0);`;

onBothDatabases("the migration to limits of accounts", (database) => {
  it("takes bytes in customers' buckets out of the storage that counts, and no others", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    const { db } = app.app.deps;
    const [theirs, ours] = [await app.createTenant("pro"), await app.createTenant("pro")];
    for (const { live } of [theirs, ours]) {
      const client = createUploadClient(app, live);
      await client.upload();
      await client.request();
    }
    const client = createUploadClient(app, theirs.live);
    const moved = [(await client.upload()).key, (await client.request({ fileSize: 1000 })).key];
    const size = smallBody.length;
    const { projectId } = theirs;
    await db.migrate((tx) => tx.script(undo + addStore(projectId)));
    for (const key of moved) await db.run(moveToBucket, { key });
    await db.run(countAsBefore, { projectId, stored: 2 * size, reserved: size + 1000 });
    await db.run(countAsBefore, { projectId: ours.projectId, stored: size, reserved: size });
    await migrate(db);
    for (const tenant of [theirs, ours])
      assert.deepEqual({ ...(await db.get(findTotal, tenant)) }, { stored: size, reserved: size });
    assert.equal(
      (await app.call("POST", "projects", { key: ours.live, body: { name: "next" } })).status,
      201,
    );
  });
});
