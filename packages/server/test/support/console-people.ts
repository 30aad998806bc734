import { scryptSync } from "node:crypto";
import { createId } from "../../src/kernel/ids.ts";
import { insertAccount } from "../../src/projects/accounts/queries.ts";
import type { TestApp } from "./start-app.ts";

export const password = "correct horse battery";

/** A hash bears its own cost. That of the service takes half a second a guess, which few tests are about. */
const cheap = { N: 1024, r: 8, p: 1 };
const salt = Buffer.alloc(16, "salt");
const key = scryptSync(password, salt, 32, cheap);
const encoded = [salt, key].map((bytes) => bytes.toString("base64url"));
const passwordHash = ["scrypt", cheap.N, cheap.r, cheap.p, ...encoded].join("$");

/** Somebody with an account who signs in with `password`. */
export async function createPerson(
  app: TestApp,
  givenEmail?: string,
): Promise<{ accountId: string; email: string }> {
  const now = app.clock.now();
  const id = createId(now);
  const email = givenEmail ?? `${id}@example.com`;
  await app.app.deps.db.change(insertAccount, { id, email, passwordHash, tier: "free", now });
  return { accountId: id, email };
}
