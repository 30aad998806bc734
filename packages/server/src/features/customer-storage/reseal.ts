import type { Deps } from "../../deps.ts";
import { listStores, resealStore } from "./queries.ts";
import { openCredentials, sealCredentials } from "./sealed-store.ts";

const batchSize = 100;

/** Seals all credentials with the newest secret, so that an older one can be dropped. Returns how many. */
export async function resealCredentials({ db, keyring }: Pick<Deps, "db" | "keyring">): Promise<number> {
  let [count, after] = [0, ""];
  for (;;) {
    const rows = await db.all(listStores, { after, take: batchSize });
    for (const { id, sealed } of rows) {
      const resealed = sealCredentials(keyring, openCredentials(keyring, sealed));
      count += await db.run(resealStore, { id, sealed, resealed });
    }
    after = rows.at(-1)?.id ?? "";
    if (rows.length < batchSize) return count;
  }
}
