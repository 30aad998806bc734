import type { TierName } from "@upstow/contract";
import { serviceAuthor } from "../../packages/server/src/kernel/actor.ts";
import { createAccount, createProjectFor } from "../../packages/server/src/projects/accounts/accounts.ts";
import { createKeyFor } from "../../packages/server/src/projects/api-keys/api-keys.ts";
import type { Installation } from "../installation.ts";
import type { Role } from "./start-attack.ts";

/** What an attacker needs to know to act as a customer: an account, a key and a password for the dashboard. */
export interface TenantAccess {
  url: string;
  accountId: string;
  email: string;
  password: string;
  tier: TierName;
  projectId: string;
  key: string;
}

/** An account as the operator would create it for a customer. */
export async function createTenant(installation: Installation, role: Role): Promise<TenantAccess> {
  const tier = role === "pro" ? "pro" : "free";
  const email = `${role.replace(/\W+/g, "-")}@attacker.example`;
  const password = "hostile tenant password";
  return installation.withDatabase(async (db) => {
    const deps = { db, now: Date.now, author: serviceAuthor };
    const account = await createAccount(deps, { email, password, tier });
    const project = await createProjectFor(deps, email, "hostile");
    const { secret } = await createKeyFor(deps, { projectId: project.id, type: "live", name: "hostile" });
    return {
      url: installation.url,
      accountId: account.id,
      email,
      password,
      tier,
      projectId: project.id,
      key: secret,
    };
  });
}
