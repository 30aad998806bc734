import { PASSKEYS_MAX } from "@upstow/contract";
import type { PasskeyTable } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

export const insertPasskey = statement((q, p: Omit<PasskeyTable, "last_used_at">) =>
  q.insertInto("passkey").values({
    id: p.id,
    account_id: p.account_id,
    credential_id: p.credential_id,
    public_key: p.public_key,
    sign_count: p.sign_count,
    name: p.name,
    created_at: p.created_at,
    last_used_at: null,
  }),
);

export const listPasskeys = statement((q, p: { accountId: string }) =>
  q
    .selectFrom("passkey")
    .select(["id", "credential_id", "name", "created_at", "last_used_at"])
    .where("account_id", "=", p.accountId)
    .orderBy("id")
    .limit(PASSKEYS_MAX),
);

export const findPasskey = statement((q, p: { credentialId: string }) =>
  q.selectFrom("passkey").selectAll().where("credential_id", "=", p.credentialId),
);

/** A count that does not grow is a copied key; those that never count stay at zero. */
export const usePasskey = statement((q, p: { id: string; signCount: number; now: number }) =>
  q
    .updateTable("passkey")
    .set({ sign_count: p.signCount, last_used_at: p.now })
    .where("id", "=", p.id)
    .where((where) => where.or([where("sign_count", "<", p.signCount), where("sign_count", "=", 0)])),
);

export const deletePasskeysOfAccount = statement((q, p: { accountId: string }) =>
  q.deleteFrom("passkey").where("account_id", "=", p.accountId),
);

export const deletePasskey = statement((q, p: { id: string; accountId: string }) =>
  q.deleteFrom("passkey").where("id", "=", p.id).where("account_id", "=", p.accountId),
);
