import type { Command } from "../command.ts";
import { withDatabase } from "../with-database.ts";

export const accountLoginLink: Command = {
  name: "account login-link",
  summary: "Create a sign-in link for someone who lost access to the dashboard",
  options: {
    email: { value: "E", description: "the account's email address (default: the installation's owner)" },
  },
  notes: `The link works once, within 24 hours. Opening it sets a new password without a second factor. The
account's passkeys, one-time codes and recovery codes are then removed and all other sessions end, so nobody who had
access before keeps it. API keys stay valid; revoke those that others may know. Treat the link like a password.`,
  async run(call) {
    const { createLoginLink } = await import("@upstow/server/projects/accounts/accounts");
    const email = call.options.find("email");
    const made = await withDatabase(call, (deps) => createLoginLink(deps, email));
    const expiresAt = new Date(made.expiresAt).toISOString();
    return {
      json: { id: made.id, email: made.email, link: made.link, expiresAt },
      text: [
        `Sign-in link for ${made.email}, valid once, until ${expiresAt}.`,
        removal,
        ...(made.isEmailVerified ? [] : [unverified]),
        made.link,
      ].join("\n"),
    };
  },
};

const removal =
  "Opening it sets a new password, removes the account's passkeys, one-time codes and recovery codes, and ends all other sessions.";
const unverified =
  "The email address is unverified: the account was created by an invitation or changed its address. Make sure you know who is asking.";
