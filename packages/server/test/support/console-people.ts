import { createId } from "../../src/kernel/ids.ts";
import { hashPassword } from "../../src/kernel/security/passwords.ts";
import { insertAccount } from "../../src/projects/accounts/queries.ts";
import { lowPasswordCost, type TestApp } from "./start-app.ts";

export const password = "correct horse battery";

/** Somebody with an account who signs in with `password`. */
export async function createPerson(
  app: TestApp,
  givenEmail?: string,
): Promise<{ accountId: string; email: string }> {
  const now = app.clock.now();
  const id = createId(now);
  const passwordHash = await hashPassword(password, lowPasswordCost);
  const email = givenEmail ?? `${id}@example.com`;
  await app.app.deps.db.change(insertAccount, { id, email, passwordHash, tier: "free", now });
  return { accountId: id, email };
}
