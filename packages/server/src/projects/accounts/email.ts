import { invalid } from "../../kernel/errors.ts";

/** Of the account that the first start makes; nobody can receive mail there. */
export const ownerEmail = "owner@localhost";

const longest = 254;
const pattern = /^[^\s@\p{C}]+@[^\s@\p{C}.]+(?:\.[^\s@\p{C}.]+)*$/u;

/** One spelling for each address, so that no account is made twice. */
export function normalizeEmail(text: string): string {
  const email = text.trim().normalize("NFC").toLowerCase();
  if (email.length > longest || !pattern.test(email)) {
    throw invalid("email", `must be an address such as name@example.com, not "${text}"`);
  }
  return email;
}
