import { ConfigError } from "../../config.ts";
import type { Deps } from "../../deps.ts";
import { createId } from "../../ids.ts";
import { createKey } from "../api-keys/api-keys.ts";
import { createProject } from "../projects/projects.ts";
import { createLoginToken } from "./login-link.ts";
import { findInstallation, insertAccount, insertInstallation, setSecretCheck } from "./queries.ts";

export interface FirstStart {
  email: string;
  projectId: string;
  liveKey: string;
  testKey: string;
  loginToken: string;
}

export const ownerEmail = "owner@localhost";

/** Makes the owner, a project and its keys the first time; null ever after, on whichever instance came second. */
export async function setUpInstallation(
  deps: Pick<Deps, "db" | "keyring" | "now">,
): Promise<FirstStart | null> {
  const installation = await deps.db.get(findInstallation, {});
  if (installation !== null) {
    await checkSecret(deps, installation.secret_check);
    return null;
  }
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
    const wanted = { projectId: project.id, tier: account.tier, reach: "account" as const };
    const live = await createKey(tx, now, { ...wanted, type: "live", name: "First live key" });
    const test = await createKey(tx, now, { ...wanted, type: "test", name: "First test key" });
    const loginToken = await createLoginToken(tx, now, account.id);
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

async function checkSecret(deps: Pick<Deps, "db" | "keyring">, known: string): Promise<void> {
  const { checks } = deps.keyring;
  if (checks[0] === known) return;
  if (!checks.includes(known)) {
    throw new ConfigError(
      "UPSTOW_SECRET does not hold the secret that this installation was made with; add it behind the new one, separated by a comma",
    );
  }
  await deps.db.run(setSecretCheck, { secretCheck: checks[0] ?? "" });
}
