import type { TierName } from "@upstow/contract";
import { statement } from "../../db/statement.ts";

interface NewAccountRow {
  id: string;
  email: string;
  passwordHash: string | null;
  tier: TierName;
  now: number;
}

const newAccount = (p: NewAccountRow) => ({
  id: p.id,
  email: p.email,
  password_hash: p.passwordHash,
  tier: p.tier,
  rate_upload: null,
  rate_transform: null,
  rate_other: null,
  transform_units: null,
  project_count: 0,
  keys_made: 0,
  keys_made_since: 0,
  email_verified: 1,
  may_own_projects: 1,
  created_at: p.now,
  updated_at: p.now,
});

export const insertAccount = statement((q, p: NewAccountRow) =>
  q
    .insertInto("account")
    .values(newAccount(p))
    .onConflict((conflict) => conflict.column("email").doNothing())
    .returningAll(),
);

/** For someone who used an invite link: their email is unverified. */
export const insertInvitedAccount = statement((q, p: Omit<NewAccountRow, "tier">) =>
  q
    .insertInto("account")
    .values({
      ...newAccount({ id: p.id, email: p.email, passwordHash: p.passwordHash, now: p.now, tier: "free" }),
      email_verified: 0,
      may_own_projects: 0,
    })
    .onConflict((conflict) => conflict.column("email").doNothing())
    .returning("id"),
);

/** The columns of an `Actor` that come from its project and its account. */
export const actorColumns = [
  "project.store_id as storeName",
  "project.cdn_url as cdnUrl",
  "account.id as accountId",
  "account.tier as tier",
  "account.rate_upload as rateUpload",
  "account.rate_transform as rateTransform",
  "account.rate_other as rateOther",
  "account.transform_units as transformUnits",
] as const;

export const findAccountByEmail = statement((q, p: { email: string }) =>
  q.selectFrom("account").selectAll().where("email", "=", p.email),
);

export const findInstallationOwner = statement((q, _: object) =>
  q
    .selectFrom("installation")
    .innerJoin("account", "account.id", "installation.owner_account_id")
    .selectAll("account"),
);

export const findAccountOfProject = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("project")
    .innerJoin("account", "account.id", "project.account_id")
    .selectAll("account")
    .where("project.id", "=", p.projectId)
    .where("project.deleted_at", "is", null),
);

export const setTier = statement((q, p: { email: string; tier: TierName; now: number }) =>
  q
    .updateTable("account")
    .set({ tier: p.tier, may_own_projects: 1, updated_at: p.now })
    .where("email", "=", p.email)
    .returningAll(),
);

interface OwnLimits {
  id: string;
  rateUpload: number | null;
  rateTransform: number | null;
  rateOther: number | null;
  transformUnits: number | null;
  now: number;
}

export const setOwnLimits = statement((q, p: OwnLimits) =>
  q
    .updateTable("account")
    .set({
      rate_upload: p.rateUpload,
      rate_transform: p.rateTransform,
      rate_other: p.rateOther,
      transform_units: p.transformUnits,
      updated_at: p.now,
    })
    .where("id", "=", p.id)
    .returningAll(),
);

export const findInstallation = statement((q, _: object) => q.selectFrom("installation").selectAll());

export const insertInstallation = statement(
  (q, p: { ownerAccountId: string; secretCheck: string; now: number }) =>
    q
      .insertInto("installation")
      .values({ id: 1, owner_account_id: p.ownerAccountId, secret_check: p.secretCheck, created_at: p.now })
      .onConflict((conflict) => conflict.column("id").doNothing())
      .returning("id"),
);

export const setSecretCheck = statement((q, p: { secretCheck: string }) =>
  q.updateTable("installation").set({ secret_check: p.secretCheck }),
);

export const insertLoginLink = statement(
  (q, p: { tokenHash: string; accountId: string; expiresAt: number }) =>
    q
      .insertInto("login_link")
      .values({ token_hash: p.tokenHash, account_id: p.accountId, expires_at: p.expiresAt }),
);
