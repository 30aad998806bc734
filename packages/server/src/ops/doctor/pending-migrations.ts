import type { Database } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";

/** What a start would change, found by migrating without running anything. Throws where a newer version was used. */
export async function listPendingMigrations(db: Database): Promise<string[]> {
  const pending: string[] = [];
  await migrate({
    ...db,
    migrate: (work) =>
      work({
        all: db.all,
        get: db.get,
        async script() {},
        async run(_statement, params) {
          if ("id" in params) pending.push(String(params.id));
          return 0;
        },
      }),
  });
  return pending;
}
