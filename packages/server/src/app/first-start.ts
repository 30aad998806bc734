import { ConfigError } from "../config.ts";
import { resealTotps } from "../dashboard/factors/totp.ts";
import type { Deps } from "../deps.ts";
import { unlessReadOnly } from "../http/read-only.ts";
import { serviceAuthor } from "../kernel/actor.ts";
import { createId } from "../kernel/ids.ts";
import type { Keyring } from "../kernel/security/keyring.ts";
import { createLoginToken, ownerEmail } from "../projects/accounts/accounts.ts";
import {
  findInstallation,
  insertAccount,
  insertInstallation,
  setSecretCheck,
} from "../projects/accounts/queries.ts";
import { createKey } from "../projects/api-keys/api-keys.ts";
import { record } from "../projects/audit/record.ts";
import { resealOlderStores } from "../projects/customer-storage/customer-stores.ts";
import { createProject } from "../projects/projects.ts";
import { resealReadKeys } from "../serving/links/read-keys.ts";
import { resealSigningKeys } from "../webhooks/signing-keys.ts";

export interface FirstStart {
  email: string;
  projectId: string;
  liveKey: string;
  testKey: string;
  loginToken: string;
}

/** Creates the owner, a project and its keys on the first start; null on later starts and on other instances. */
export async function setUpInstallation(
  deps: Pick<Deps, "db" | "keyring" | "now">,
  beforeFirst: () => Promise<unknown> = async () => {},
): Promise<FirstStart | null> {
  const installation = await deps.db.get(findInstallation, {});
  if (installation !== null) {
    checkSecretUnchanged(deps.keyring, installation.secret_check);
    // While the installation is read-only, this is left to the first start afterwards.
    if (deps.keyring.checks.length > 1) await unlessReadOnly(replaceSecret(deps, installation.secret_check));
    return null;
  }
  await beforeFirst();
  const now = deps.now();
  const created = await deps.db.transact(async (tx) => {
    const account = await tx.get(insertAccount, {
      id: createId(now),
      email: ownerEmail,
      passwordHash: null,
      tier: "enterprise",
      now,
    });
    if (account === null) return null;
    const secretCheck = deps.keyring.checks[0] ?? "";
    const won = await tx.get(insertInstallation, { ownerAccountId: account.id, secretCheck, now });
    if (won === null) throw new Error("the installation was set up by an older start that did not finish");
    const project = await createProject(tx, now, { accountId: account.id, tier: account.tier }, "default");
    const wanted = { projectId: project.id, tier: account.tier };
    const live = await createKey(tx, now, { ...wanted, type: "live", name: "First live key" });
    const test = await createKey(tx, now, { ...wanted, type: "test", name: "First test key" });
    const loginToken = await createLoginToken(tx, now, account.id);
    await record(tx, now, serviceAuthor, {
      action: "installation.created",
      target: { kind: "installation", id: account.id },
      accountId: account.id,
    });
    return {
      email: ownerEmail,
      projectId: project.id,
      liveKey: live.secret,
      testKey: test.secret,
      loginToken,
    };
  });
  return created ?? setUpInstallation(deps);
}

/** Throws unless the keyring holds the secret that the installation was last started with. */
export function checkSecretUnchanged(keyring: Keyring, known: string): void {
  if (keyring.checks.includes(known)) return;
  throw new ConfigError(
    "UPSTOW_SECRET lacks the secret that this installation was created with; set it to that secret, or add it after the new one, separated by a comma (if unset, it is read from the file secret in UPSTOW_DATA_DIR)",
  );
}

/**
 * Runs at a start with an older secret after the first. Everything sealed is re-sealed with the first secret before
 * that is recorded as the installation's, because from then on the service starts without the older one and must be
 * able to open everything. Keys of public variants are re-sealed at every start.
 */
async function replaceSecret(deps: Pick<Deps, "db" | "keyring" | "now">, known: string): Promise<void> {
  await resealSigningKeys(deps);
  await resealReadKeys(deps);
  await resealTotps(deps);
  await resealOlderStores(deps);
  const [secretCheck = ""] = deps.keyring.checks;
  if (secretCheck === known) return;
  await deps.db.transact(async (tx) => {
    await tx.run(setSecretCheck, { secretCheck });
    await record(tx, deps.now(), serviceAuthor, {
      action: "installation.secret-replaced",
      target: { kind: "installation", id: "secret" },
    });
  });
}
