import type { Command } from "../command.ts";
import { defaultUrl, readServiceUrl } from "../connection.ts";
import { credentialsPath, saveCredentials } from "../credentials.ts";
import { readSecret } from "../read-secret.ts";

export const login: Command = {
  name: "login",
  summary: "Sign in to a service with an API key, for all commands below",
  options: {
    url: { value: "URL", description: `the service's URL (default: ${defaultUrl})` },
    key: { value: "K", description: "an API key; prompted for by default, - reads it from standard input" },
  },
  notes: `A key on the command line stays in the shell's history; without --key you are prompted for it.
If set, UPSTOW_URL and UPSTOW_API_KEY override what this command saves.`,
  async run(call) {
    const url = readServiceUrl("--url", call.options.find("url") ?? (call.env["UPSTOW_URL"] || defaultUrl));
    const apiKey = await readSecret(call, "key", "API key (not shown):");
    const { createUpstow } = await import("@upstow/sdk");
    const { tier } = await createUpstow({ baseUrl: url, apiKey, retries: 1 }).usage.get();
    saveCredentials(call.env, { url, apiKey });
    const type = apiKey.startsWith("svc_test_") ? "test" : "live";
    const savedTo = credentialsPath(call.env);
    return {
      json: { url, type, tier, savedTo },
      text: `Signed in to ${url} with a ${type} key (${tier} tier), saved to ${savedTo}.
Next: upstow upload <files…>`,
    };
  },
};
