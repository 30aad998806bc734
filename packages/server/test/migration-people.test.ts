import assert from "node:assert/strict";
import { it } from "node:test";
import { sql } from "kysely";
import { migrate } from "../src/db/migrate.ts";
import { statement } from "../src/db/statement.ts";
import { onBothDatabases, startApp } from "./support/start-app.ts";

const id = "022-people-and-domains";
const listDomains = statement((q, _: object) =>
  q.selectFrom("project").select(["id", "cdn_url as cdnUrl"]).where("cdn_url", "is not", null).orderBy("id"),
);
const listRights = statement((q, _: object) =>
  q.selectFrom("account").select(["email_verified as verified", "may_own_projects as mayOwn"]).distinct(),
);
const setDomain = statement((q, p: { ids: string; cdnUrl: string }) =>
  q.updateTable("project").set({ cdn_url: p.cdnUrl }).where(sql<boolean>`${p.ids} like '%' || id || '%'`),
);

onBothDatabases("the migration of accounts and domains", (database) => {
  it("leaves accounts what they have, and of two equal domains the older one", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    const { db } = app.app.deps;
    const tenants = [
      await app.createTenant("free"),
      await app.createTenant("pro"),
      await app.createTenant("pro"),
    ];
    const [older = "", newer = "", other = ""] = tenants.map(({ projectId }) => projectId).toSorted();
    await db.migrate(async (tx) => {
      await tx.script(`
        DROP INDEX project_custom_domain;
        DROP INDEX project_bound_host;
        DROP INDEX invitation_by_account;
        ALTER TABLE account DROP COLUMN email_verified;
        ALTER TABLE account DROP COLUMN may_own_projects;
        DELETE FROM migration WHERE id = '${id}';
      `);
      await tx.run(setDomain, { ids: `${older},${newer}`, cdnUrl: "https://twice.example" });
      await tx.run(setDomain, { ids: other, cdnUrl: "https://once.example" });
    });
    await migrate(db);
    const expected = [
      { id: older, cdnUrl: "https://twice.example" },
      { id: other, cdnUrl: "https://once.example" },
    ];
    assert.deepEqual(
      (await db.all(listDomains, {})).map((row) => ({ ...row })),
      expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
    assert.deepEqual(
      (await db.all(listRights, {})).map((row) => ({ ...row })),
      [{ verified: 1, mayOwn: 1 }],
    );
    const made = await app.call("POST", "projects", { key: tenants[0]?.live ?? "", body: { name: "more" } });
    assert.equal(made.status, 201);
  });
});
