import type { Command } from "../command.ts";
import { withDatabase } from "../with-database.ts";

export const accountLoginLink: Command = {
  name: "account login-link",
  summary: "Make a link that lets somebody into the dashboard who lost their way in",
  options: {
    email: { value: "E", description: "the account's e-mail address; the installation's owner unless given" },
  },
  notes: `The link works once, within 24 hours. Whoever opens it chooses a new password, needs no second factor this
time, and all other sessions of the account end. Treat it like a password.`,
  async run(call) {
    const { createLoginLink } = await import("@upstow/server/features/accounts/login-link");
    const email = call.options.find("email");
    const made = await withDatabase(call, (deps) => createLoginLink(deps, email));
    const expiresAt = new Date(made.expiresAt).toISOString();
    return {
      json: { id: made.id, email: made.email, link: made.link, expiresAt },
      text: `A way into the dashboard for ${made.email}, once, until ${expiresAt}:\n${made.link}`,
    };
  },
};
