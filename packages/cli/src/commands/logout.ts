import type { Command } from "../command.ts";
import { credentialsPath, findCredentials, removeCredentials } from "../credentials.ts";

export const logout: Command = {
  name: "logout",
  summary: "Forget the key that login kept",
  notes: "The key itself stays valid; `upstow keys revoke <id>` ends it.",
  async run({ env }) {
    const wasSignedIn = findCredentials(env) !== null;
    removeCredentials(env);
    return {
      json: { signedOut: wasSignedIn },
      text: wasSignedIn ? `Removed ${credentialsPath(env)}.` : "You were not signed in.",
    };
  },
};
