import { hash } from "node:crypto";
import type { Queryable } from "../../db/database.ts";
import { randomText } from "../../kernel/ids.ts";
import { deleteRecoveryCodes, insertRecoveryCode, takeRecoveryCode } from "./totp-queries.ts";

const howMany = 10;
/** 80 random bits: a plain hash is enough to keep them by. */
const codeLength = 16;

/** Replaces all earlier ones. They are shown this once. */
export async function createRecoveryCodes(tx: Queryable, accountId: string): Promise<string[]> {
  await tx.run(deleteRecoveryCodes, { accountId });
  const codes = Array.from({ length: howMany }, () => randomText(codeLength));
  for (const code of codes) await tx.run(insertRecoveryCode, { accountId, codeHash: hash("sha256", code) });
  return codes.map((code) => code.replaceAll(/(.{4})(?=.)/g, "$1-"));
}

/** True for one that was not used before, which ends with it. */
export async function useRecoveryCode(tx: Queryable, accountId: string, code: string): Promise<boolean> {
  return (await tx.run(takeRecoveryCode, { accountId, codeHash: hash("sha256", code) })) > 0;
}
