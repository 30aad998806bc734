import { resealTotps } from "../dashboard/factors/reseal-totps.ts";
import type { Deps } from "../deps.ts";
import { setSecretCheck } from "../projects/accounts/queries.ts";
import { resealOlderStores } from "../projects/customer-storage/reseal.ts";
import { resealSigningKeys } from "../webhooks/reseal-signing-keys.ts";

/**
 * At a start with an older secret behind the first. Everything that is kept sealed is sealed with the first one, before
 * that is noted as the installation's: from then on the service starts without the older one, and has to be able to open
 * it all. Keys of public variants are sealed anew at every start.
 */
export async function replaceSecret(deps: Pick<Deps, "db" | "keyring">, known: string): Promise<void> {
  await resealSigningKeys(deps);
  await resealTotps(deps);
  await resealOlderStores(deps);
  const [secretCheck = ""] = deps.keyring.checks;
  if (secretCheck !== known) await deps.db.run(setSecretCheck, { secretCheck });
}
