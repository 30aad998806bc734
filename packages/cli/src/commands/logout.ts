import type { Command } from "../command.ts";
import { credentialsPath, findCredentials, removeCredentials } from "../credentials.ts";

export const logout: Command = {
  name: "logout",
  summary: "Remove the key that login saved",
  notes: "The key stays valid; `upstow keys revoke <id>` revokes it.",
  async run({ env }) {
    const wasSignedIn = findCredentials(env) !== null;
    removeCredentials(env);
    return {
      json: { signedOut: wasSignedIn },
      text: wasSignedIn ? `Removed ${credentialsPath(env)}.` : "You were not signed in.",
    };
  },
};
