import type { TotpTable } from "../../db/people-schema.ts";
import type { Deps } from "../../deps.ts";
import { purpose } from "./totp.ts";
import { listTotps, resealTotp } from "./totp-queries.ts";

const batchSize = 100;

export async function resealTotps({ db, keyring }: Pick<Deps, "db" | "keyring">): Promise<void> {
  let rows: TotpTable[];
  let after = "";
  do {
    rows = await db.all(listTotps, { after, take: batchSize });
    for (const { account_id: accountId, secret_sealed: sealed } of rows) {
      const resealed = keyring.reseal(sealed, purpose);
      if (resealed !== null) await db.run(resealTotp, { accountId, sealed, resealed });
    }
    after = rows.at(-1)?.account_id ?? "";
  } while (rows.length === batchSize);
}
