import type { Deps } from "../../deps.ts";
import { listStores, resealStore } from "./queries.ts";
import { openCredentials, resealOlderCredentials, sealCredentials } from "./sealed-store.ts";

const batchSize = 100;

type ResealDeps = Pick<Deps, "db" | "keyring">;

/** Seals all credentials with the newest secret, so that an older one can be dropped. Returns how many. */
export function resealCredentials(deps: ResealDeps): Promise<number> {
  const { keyring } = deps;
  return resealStores(deps, (sealed) => sealCredentials(keyring, openCredentials(keyring, sealed)));
}

/** Only those that an older secret sealed; what none opens stays as it is. */
export function resealOlderStores(deps: ResealDeps): Promise<number> {
  return resealStores(deps, (sealed) => resealOlderCredentials(deps.keyring, sealed));
}

async function resealStores({ db }: ResealDeps, reseal: (sealed: string) => string | null): Promise<number> {
  let [count, after] = [0, ""];
  for (;;) {
    const rows = await db.all(listStores, { after, take: batchSize });
    for (const { id, sealed } of rows) {
      const resealed = reseal(sealed);
      if (resealed !== null) count += await db.run(resealStore, { id, sealed, resealed });
    }
    after = rows.at(-1)?.id ?? "";
    if (rows.length < batchSize) return count;
  }
}
